"""A recording's bytes to pieces of mono sound at 16 kHz, each with its time, without ever holding the whole recording."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gawah.errors import ExtractionError

RATE = 16_000  # samples a second, Whisper's
_PIECE_S = 300  # sound held at once: 19 MB
_SEARCH_S = 30  # at the end of a piece, where the quietest moment is looked for
_MOMENT_S = 0.2
_GAP_S = 0.2  # a larger gap between the times of two frames was silence that the encoder left out


@dataclass(frozen=True, slots=True)
class Piece:
    """Sound from `start_s` on."""

    start_s: float
    samples: NDArray[np.float32]


@dataclass(slots=True)
class Recording:
    """An open recording; `n_broken` counts packets that could not be decoded, so far."""

    title: str
    n_broken: int = 0
    n_samples: int = 0
    _container: Any = field(default=None, repr=False)
    _stream: Any = field(default=None, repr=False)

    def pieces(self, most_minutes: int) -> Iterator[Piece]:
        """Pieces of at most five minutes, cut where it is quietest.

        Raises ExtractionError `too_long` beyond the minutes, `damaged` when no sound could be decoded.
        """
        joiner = _Joiner()
        for block in self._blocks():
            self.n_samples += len(block)
            if self.n_samples > most_minutes * 60 * RATE:
                raise _too_long(most_minutes)
            yield from joiner.take(block)
        if self.n_samples == 0:
            raise ExtractionError("damaged", "no sound in it can be decoded; export the recording again")
        yield from joiner.rest()

    def _blocks(self) -> Iterator[NDArray[np.float32]]:
        """Resampled sound in the order of time; silence that is not encoded is put back, a second at a time."""
        resamplers: dict[tuple[str, str, int], Any] = {}
        expected_s = 0.0
        for frame in self._frames():
            at_s = self._time_of(frame, expected_s)
            while at_s - expected_s > _GAP_S:
                gap_s = min(1.0, at_s - expected_s)
                yield np.zeros(round(gap_s * RATE), np.float32)
                expected_s += gap_s
            expected_s += frame.samples / frame.rate
            key = (frame.format.name, frame.layout.name, frame.rate)
            if key not in resamplers:
                resamplers[key] = _resampler()
            frame.pts = None  # the resampler would complain of times that jump
            for made in resamplers[key].resample(frame):
                yield made.to_ndarray().reshape(-1)
        for resampler in resamplers.values():
            for made in resampler.resample(None):
                yield made.to_ndarray().reshape(-1)

    def _time_of(self, frame: Any, otherwise: float) -> float:
        if frame.pts is None or frame.time_base is None:
            return otherwise
        return float(frame.pts * frame.time_base) - (self._container.start_time or 0) / 1e6

    def _frames(self) -> Iterator[Any]:
        from av.error import FFmpegError

        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets, None)
            except FFmpegError:  # the container breaks off
                self.n_broken += 1
                return
            if packet is None:
                return
            try:
                yield from packet.decode()
            except FFmpegError:
                self.n_broken += 1

    def close(self) -> None:
        self._container.close()


def open_recording(data: bytes, most_minutes: int) -> Recording:
    """Raises ExtractionError `damaged`, `no_audio`, or `too_long` when the recording itself says that it is."""
    import av
    from av.error import FFmpegError

    try:
        container = av.open(io.BytesIO(data), mode="r", metadata_errors="ignore")
    except (FFmpegError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ExtractionError("damaged", f"it cannot be opened as a recording: {why}; export it again") from error
    stream = next((stream for stream in container.streams.audio if stream.codec_context), None)
    if stream is None:
        container.close()
        raise ExtractionError("no_audio", "there is no sound in it that can be decoded")
    if (container.duration or 0) / 1e6 > most_minutes * 60:
        container.close()
        raise _too_long(most_minutes)
    title = container.metadata.get("title") or stream.metadata.get("title") or ""  # Ogg has it on the stream
    return Recording(" ".join(title.split()), _container=container, _stream=stream)


def _resampler() -> Any:
    from av.audio.resampler import AudioResampler

    return AudioResampler(format="flt", layout="mono", rate=RATE)


def _too_long(most_minutes: int) -> ExtractionError:
    reason = f"the recording is longer than {most_minutes} minutes; cut it into parts"
    return ExtractionError("too_long", reason)


class _Joiner:
    """Blocks of sound to pieces."""

    def __init__(self) -> None:
        self._held: list[NDArray[np.float32]] = []
        self._n_held = 0
        self._start = 0

    def take(self, block: NDArray[np.float32]) -> Iterator[Piece]:
        self._held.append(block)
        self._n_held += len(block)
        while self._n_held >= _PIECE_S * RATE:
            sound = np.concatenate(self._held)
            cut = quietest(sound[: _PIECE_S * RATE])
            yield Piece(self._start / RATE, sound[:cut])
            self._start += cut
            self._held, self._n_held = [sound[cut:]], len(sound) - cut

    def rest(self) -> Iterator[Piece]:
        if self._n_held:
            yield Piece(self._start / RATE, np.concatenate(self._held))


def quietest(sound: NDArray[np.float32]) -> int:
    """Where to cut: the middle of the moment with the least energy in the last half minute."""
    moment = round(_MOMENT_S * RATE)
    tail = sound[-min(len(sound) // 2, _SEARCH_S * RATE) :]
    n = len(tail) // moment
    if n == 0:
        return len(sound)
    energy = np.square(tail[: n * moment]).reshape(n, moment).sum(axis=1)
    return len(sound) - len(tail) + int(np.argmin(energy)) * moment + moment // 2
