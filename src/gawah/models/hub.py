"""From a repository's name to a folder on this machine, through the model hub's own client and its cache."""

from __future__ import annotations

import os
from pathlib import Path

from gawah.errors import ModelError

# All that is read of a model; the same repository may hold the weights five times over in other formats.
_FILES = ["*.json", "*/config.json", "model.safetensors", "README.md"]


def hub_cached(repository: str) -> Path | None:
    """The folder of a repository's files in the client's cache; None when it is not there, or no client is installed."""
    if not (_client_cache() / f"models--{repository.replace('/', '--')}").is_dir():
        return None  # the client need not be loaded to say so (0.5 s)
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ImportError:
        return None
    try:
        return Path(snapshot_download(repository, allow_patterns=_FILES, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None


def _client_cache() -> Path:
    """Where the client keeps what it fetched, by the variables that it documents."""
    home = os.environ.get("HF_HOME") or str(Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface")
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def hub_snapshot(repository: str, *, advice: str) -> Path:
    """The folder of a repository's files, from the client's cache or the network. ModelError ends in `advice`."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

        # Of whichever HTTP library this version of the client uses; no public name holds over versions.
        transport_error: type[Exception] = HfHubHTTPError.__bases__[0]
    except ImportError as error:
        raise ModelError(f"no model {repository!r} here, and huggingface_hub is not installed; {advice}") from error
    try:
        try:
            return Path(snapshot_download(repository, allow_patterns=_FILES, local_files_only=True))
        except LocalEntryNotFoundError:
            return Path(snapshot_download(repository, allow_patterns=_FILES))
    except HFValidationError as error:
        raise ModelError(f"{repository!r} is neither a folder here nor a model's name; {advice}") from error
    except LocalEntryNotFoundError as error:
        raise ModelError(f"no model {repository!r} here, and the hub cannot be reached; {advice}") from error
    except (transport_error, OSError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(f"no model {repository!r} here, and the hub did not give it ({reason}); {advice}") from error
