"""Sound comes out of its container whole, in bounded pieces, at its own time."""

import io
import wave
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.errors import ExtractionError

av = pytest.importorskip("av", reason="recordings need the extra `audio`")

from gawah.extract.speech.sound import RATE, open_recording, quietest  # noqa: E402


def wav(samples, rate=RATE, channels=1):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return buffer.getvalue()


def tone(seconds, rate=RATE, pitch=440.0):
    return 0.5 * np.sin(2 * np.pi * pitch * np.arange(round(seconds * rate)) / rate)


def pieces(data, minutes=60):
    recording = open_recording(data, minutes)
    try:
        return list(recording.pieces(minutes)), recording
    finally:
        recording.close()


def code(data, minutes=60):
    with pytest.raises(ExtractionError) as caught:
        pieces(data, minutes)
    assert "\n" not in str(caught.value)
    return caught.value.reason_code


def outcome(data):
    try:
        made, _ = pieces(data)
    except ExtractionError as error:
        return error.reason_code
    return "sound" if made else "nothing"


def test_samples_at_the_models_rate_come_out_as_they_are():
    sound = tone(1.5)
    (piece,), recording = pieces(wav(sound))
    assert piece.start_s == 0
    assert piece.samples.dtype == np.float32
    np.testing.assert_allclose(piece.samples, sound, atol=1e-4)
    assert recording.n_broken == 0


@pytest.mark.parametrize(("rate", "channels"), [(8000, 1), (44100, 2), (48000, 1), (22050, 2)])
def test_other_rates_and_channels_become_mono_at_the_models_rate(rate, channels):
    sound = np.repeat(tone(2.0, rate), channels)
    (piece,), _ = pieces(wav(sound, rate, channels))
    assert len(piece.samples) / RATE == pytest.approx(2.0, abs=0.01)
    spectrum = np.abs(np.fft.rfft(piece.samples[RATE // 2 : RATE + RATE // 2]))
    assert np.argmax(spectrum) == 440


def test_long_sound_is_cut_in_bounded_pieces_that_lose_nothing_at_the_quietest_moments():
    sound = tone(620)
    silence = slice(round(281.0 * RATE), round(281.5 * RATE))
    sound[silence] = 0
    made, recording = pieces(wav(sound))
    assert recording.n_samples == 620 * RATE
    assert all(len(piece.samples) <= 300 * RATE for piece in made)
    assert 281.0 <= made[1].start_s <= 281.5
    starts = np.cumsum([0, *(len(piece.samples) for piece in made)])
    assert [piece.start_s * RATE for piece in made] == starts[:-1].tolist()
    np.testing.assert_allclose(np.concatenate([piece.samples for piece in made]), sound, atol=1e-4)


def test_silence_that_was_not_encoded_is_put_back_so_that_times_stay_true():
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="matroska") as out:
        stream = out.add_stream("pcm_s16le", rate=RATE, layout="mono")
        for start_s in (0.0, 1.0, 9.0):
            frame = av.AudioFrame.from_ndarray((tone(1.0) * 32767).astype("<i2").reshape(1, -1), "s16", "mono")
            frame.rate, frame.pts, frame.time_base = RATE, round(start_s * RATE), Fraction(1, RATE)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    (piece,), _ = pieces(buffer.getvalue())
    assert len(piece.samples) / RATE == pytest.approx(10.0, abs=0.05)
    loud = np.flatnonzero(np.abs(piece.samples) > 0.1) / RATE
    assert not ((loud > 2.1) & (loud < 8.9)).any()
    assert (loud > 9.05).any()


def test_what_is_longer_than_allowed_is_refused_by_its_own_word_and_by_its_sound():
    sound = wav(tone(70))
    assert code(sound, minutes=1) == "too_long"
    lying = bytearray(sound)
    lying[40:44] = (1000).to_bytes(4, "little")  # the header says how much sound follows
    assert len(pieces(bytes(lying), minutes=1)[0]) == 1


def test_what_holds_no_sound_has_a_code():
    assert code(b"RIFF\x24\x00\x00\x00WAVEfmt ") == "damaged"
    assert code(bytes(4000)) == "damaged"
    assert code(wav(np.zeros(0))) == "damaged"
    assert code(_film_without_sound()) == "no_audio"


def _film_without_sound():
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="matroska") as out:
        stream = out.add_stream("mpeg4", rate=5)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
        for _ in range(5):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")))
        out.mux(stream.encode(None))
    return buffer.getvalue()


def test_broken_packets_are_counted_and_the_rest_is_read(recordings):
    data = bytearray((recordings / "tower-visit.mp4").read_bytes())
    rng = np.random.default_rng(7)
    for at in rng.integers(2000, 40_000, 400):  # the index is at the end
        data[at] ^= 0xFF
    made, recording = pieces(bytes(data))
    assert recording.n_broken > 0
    assert sum(len(piece.samples) for piece in made) > 0


def test_no_mutation_of_a_recording_does_more_than_fail_with_a_code(recordings):
    rng = np.random.default_rng(5)
    for name in ("morning-briefing.ogg", "tower-visit.mp4"):
        original = (recordings / name).read_bytes()
        for _ in range(25):
            data = bytearray(original[: rng.integers(1, len(original))])
            for at in rng.integers(0, len(data), 6):
                data[at] = rng.integers(256)
            assert outcome(bytes(data)) in {"sound", "damaged", "no_audio", "too_long"}


@given(st.integers(1, 40_000), st.integers(0, 2**32 - 1))
def test_a_cut_is_inside_the_sound(n, seed):
    sound = np.random.default_rng(seed).normal(size=n).astype(np.float32)
    assert n // 2 <= quietest(sound) <= n
