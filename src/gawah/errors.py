"""The error tree. Each class knows its exit code and HTTP status; each message is one line: what, to what, what to do.

GawahError
├── UsageError                 bad arguments                                    exit 2   400
├── NotFoundError              no such document, answer, file                   exit 1   404
├── ConfigurationError         settings, model files, extras                    exit 5   500
│   ├── ModelError             a checkpoint that is missing, broken or not the one named
│   │   ├── ModelMissingError  it is not on this machine
│   │   └── HubError           the model hub cannot be reached or does not have it    exit 7   502
│   ├── StampMismatchError     an index built by another model
│   └── ForeignStoreError      a file that is not a gawah store
├── StoreError                 the store cannot do it                           exit 1   503
│   ├── StoreBusyError         another process is writing                                409
│   ├── LeaseLostError         a job was claimed by another worker meanwhile            409
│   ├── StoreFullError         no room on the disk                                       507
│   └── StoreCorruptError      damaged files
├── IndexLegError              one retrieval leg failed                         exit 1   503
├── ExtractionError            one document failed, with a code                 exit 1   422
├── GeneratorError             the generator failed                             exit 1   502
│   └── UnreachableError       it cannot be reached                             exit 7   504
│       └── DeadlineError      it can, but did not answer in time               exit 7   504
└── VerificationError          a citation does not hold                         exit 6   409
"""

from __future__ import annotations

from typing import ClassVar


class GawahError(Exception):
    """The root: one line that says what happened, to what, and what to do."""

    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500
    code: ClassVar[str] = "error"


class UsageError(GawahError):
    """The caller asked for something that cannot be."""

    exit_code = 2
    http_status = 400
    code = "usage"


class NotFoundError(GawahError):
    """No such document, answer, chunk or file."""

    http_status = 404
    code = "not_found"


class ConfigurationError(GawahError):
    """A setting, a model or an installed part is wrong or missing."""

    exit_code = 5
    code = "configuration"


class ModelError(ConfigurationError):
    """A checkpoint is missing, broken, or not the one that was named."""

    code = "model"


class ModelMissingError(ModelError):
    """A model that is known by name is not on this machine."""

    code = "model_missing"


class HubError(ModelError):
    """The model hub cannot be reached, does not have what was asked for, or gave other bytes than it announced."""

    exit_code = 7
    http_status = 502
    code = "hub"


class StampMismatchError(ConfigurationError):
    """The index was built under another model; mixing them would return nonsense without an error."""

    http_status = 409
    code = "stamp_mismatch"


class ForeignStoreError(ConfigurationError):
    """The file at the store's place belongs to something else."""

    code = "foreign_store"


class StoreError(GawahError):
    """The store cannot do what was asked."""

    http_status = 503
    code = "store"


class StoreBusyError(StoreError):
    """Another process is writing."""

    http_status = 409
    code = "store_busy"


class LeaseLostError(StoreError):
    """The job's lease ran out and another worker holds it now; this one's work is thrown away."""

    http_status = 409
    code = "lease_lost"


class StoreFullError(StoreError):
    """The disk has no room left; nothing acknowledged is lost."""

    http_status = 507
    code = "store_full"


class StoreCorruptError(StoreError):
    """A file of the store is damaged."""

    code = "store_corrupt"


class IndexLegError(GawahError):
    """One retrieval leg failed; `leg` names it."""

    http_status = 503
    code = "index_leg"

    def __init__(self, leg: str, message: str) -> None:
        super().__init__(f"the {leg} leg failed: {message}")
        self.leg = leg


class ExtractionError(GawahError):
    """One document could not be read. `reason_code` is stable; `retryable` says whether trying again can help."""

    http_status = 422
    code = "extraction"

    def __init__(self, reason_code: str, reason: str, *, retryable: bool = False) -> None:
        super().__init__(reason)
        self.reason_code = reason_code
        self.retryable = retryable

    def __reduce__(self) -> tuple[object, ...]:
        return (_extraction_error, (self.reason_code, str(self), self.retryable))


def _extraction_error(reason_code: str, reason: str, retryable: bool) -> ExtractionError:  # noqa: FBT001
    return ExtractionError(reason_code, reason, retryable=retryable)


class GeneratorError(GawahError):
    """The generator answered, but not with an answer."""

    http_status = 502
    code = "generator"


class UnreachableError(GeneratorError):
    """The generator's endpoint cannot be reached."""

    exit_code = 7
    http_status = 504
    code = "unreachable"


class DeadlineError(UnreachableError):
    """The generator did not answer in time."""

    code = "deadline"


class VerificationError(GawahError):
    """A citation does not hold against its source."""

    exit_code = 6
    http_status = 409
    code = "verification"
