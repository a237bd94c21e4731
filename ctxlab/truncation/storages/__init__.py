"""Where resources are kept: memory, SQLite, Redis, or any file system that fsspec knows."""

from ctxlab.truncation.storages.base import Lifetime as Lifetime
from ctxlab.truncation.storages.base import Storage as Storage
from ctxlab.truncation.storages.files import FsspecStorage as FsspecStorage
from ctxlab.truncation.storages.memory import MemoryStorage as MemoryStorage
from ctxlab.truncation.storages.redis import RedisStorage as RedisStorage
from ctxlab.truncation.storages.sqlite import SqliteStorage as SqliteStorage
