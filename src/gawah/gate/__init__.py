"""Evidence to a decision: may anything be answered from what was found? Before any generator is called.

Two gates: `ReferenceGate` compares one cosine distance with a threshold; `CalibratedGate` weighs named signals, with
coefficients and a threshold that are data (`Calibration`), made for one model, chunker and reranker.
"""

from gawah.gate.calibrated import CALIBRATED, CalibratedGate
from gawah.gate.calibration import (
    Calibration,
    CalibrationStamp,
    Fitted,
    calibration_json,
    calibration_of,
    differences,
    load_calibration,
    packaged_calibration,
)
from gawah.gate.evidence import AT_MOST, N_BACKGROUND, N_COMPARED, Evidence, Gate
from gawah.gate.model import DIRECTIONS, Feature, MonotoneModel
from gawah.gate.reference import (
    EMPTY_INDEX,
    NOTHING_NEAR,
    REFERENCE,
    ReferenceGate,
    reference_gate,
    refusal_code,
    refusal_message,
)
from gawah.gate.signals import signals_of
from gawah.text import Demands, demands_of, unmet

__all__ = [
    "AT_MOST",
    "CALIBRATED",
    "DIRECTIONS",
    "EMPTY_INDEX",
    "NOTHING_NEAR",
    "N_BACKGROUND",
    "N_COMPARED",
    "REFERENCE",
    "CalibratedGate",
    "Calibration",
    "CalibrationStamp",
    "Demands",
    "Evidence",
    "Feature",
    "Fitted",
    "Gate",
    "MonotoneModel",
    "ReferenceGate",
    "calibration_json",
    "calibration_of",
    "demands_of",
    "differences",
    "load_calibration",
    "packaged_calibration",
    "reference_gate",
    "refusal_code",
    "refusal_message",
    "signals_of",
    "unmet",
]
