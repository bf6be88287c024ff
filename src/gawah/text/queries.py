"""A question to the terms it asks the lexical index for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gawah.text.identifiers import part_terms, whole_terms
from gawah.text.terms import analyze

# English function words: they say how a sentence is built, not what it is about. No content words.
_FUNCTION_WORDS = """
    a an the this that these those
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves one ones
    who whom whose which what when where why how whether
    am is are was were be been being do does did doing have has had having
    can could may might must shall should will would ought cannot
    and or but nor so if then else because while although though unless until than
    of to in on at by for from with about into onto as off over under up down out through during between among against
    before after above below upon within per
    no not only own same such too very just also even still ever yet both each either neither every any some all most
    more much many few other another again once here there thus hence however
    aren couldn didn doesn don hadn hasn haven isn mustn needn shan shouldn wasn weren won wouldn ain
    please
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())

# Hindi and Urdu ones: pronouns, question words, postpositions, auxiliaries, conjunctions. The index is asked for them all
# the same, because many of them find better than none; what they say of a passage is nothing.
_HINDI_FUNCTION_WORDS = """
    मैं मैंने मुझे मुझको मेरा मेरी मेरे हम हमने हमें हमारा हमारी हमारे तू तुम तुम्हें तुम्हारा तुम्हारी तुम्हारे आप आपको आपका आपकी आपके
    यह ये वह वे वो इस इसे इसका इसकी इसके इसमें इन इन्हें इनका इनकी इनके इनमें उस उसे उसका उसकी उसके उसमें उसने उन उन्हें उनका उनकी उनके उन्होंने
    अपना अपनी अपने जो जिस जिसे जिसका जिसकी जिसके जिन जिनका जिनकी जिनके
    कौन कौनसा कौनसी कौनसे किस किसे किसने किसका किसकी किसके किन किनका किनकी किनके क्या क्यों कब कहाँ कहां कैसे कैसा कैसी कितना कितनी कितने
    का की के को ने से में पर तक द्वारा
    है हैं हूँ हूं हो था थी थे होता होती होते हुआ हुई हुए होना होने होगा होगी होंगे
    गया गई गयी गए गये जाता जाती जाते कर करता करती करते करना करने किया की किए रहा रही रहे
    और या तथा एवं लेकिन मगर कि अगर यदि तो भी ही
"""
_URDU_FUNCTION_WORDS = """
    میں مجھے میرا میری میرے ہم ہمیں ہمارا ہماری ہمارے تم تمہیں آپ
    یہ وہ اس اسے ان انہیں انہوں اپنا اپنی اپنے جو جس جسے جن
    کون کونسا کونسی کونسے کس کسے کن کیا کیوں کب کہاں کیسے کیسا کیسی کتنا کتنی کتنے
    کا کی کے کو نے سے پر تک
    ہے ہیں ہوں ہو تھا تھی تھے ہوتا ہوتی ہوتے ہوا ہوئی ہوئے ہونا ہونے ہوگا ہوگی
    گیا گئی گئے جاتا جاتی جاتے کر کرتا کرتی کرتے کرنا کرنے کیا کی کیے رہا رہی رہے
    اور یا لیکن مگر کہ اگر تو بھی ہی
"""
_NO_CONTENT = STOP_WORDS.union(analyze(_HINDI_FUNCTION_WORDS), analyze(_URDU_FUNCTION_WORDS))
_STOP_WORDS_BY_LANGUAGE = {"en": STOP_WORDS}

# So few words are a lookup. Parts asked for by whole questions cost more than they found: etcd, mean reciprocal rank of
# BM25 alone, .546 without them and .512 with them.
_LOOKUP_WORDS = 3

# What an apostrophe adds to an English word. As terms of their own these letters would ask for `s` and `t`.
_CONTRACTION = re.compile(r"(?<=[a-z])['’](?:s|t|ll|ve|re|d|m)(?![a-z0-9])", re.IGNORECASE)


def query_terms(question: str, *, languages: Sequence[str] = ("en",)) -> list[str]:
    """Terms to ask the lexical index for, in order; a term that is repeated counts each time.

    The question's own terms without the stop words of the given languages (BCP 47 primary tags; a language without a
    list has no stop words), all of them when nothing else is left; then the whole forms of its identifiers, or, in a
    lookup of a few plain words, what identifiers made of them answer to.
    """
    stop_words = frozenset[str]().union(*(_STOP_WORDS_BY_LANGUAGE.get(tag, frozenset()) for tag in languages))
    bare = _CONTRACTION.sub("", question) if stop_words else question
    words = [word for word in analyze(bare) if word not in stop_words]
    if not words:
        return analyze(question)
    identifiers = whole_terms(question)
    if not identifiers and len(words) <= _LOOKUP_WORDS:
        return words + part_terms(words)
    return words + identifiers


def content_terms(question: str) -> list[str]:
    """The terms of a question that say what it is about, in order, each once: no function words of English, Hindi, Urdu."""
    return [term for term in dict.fromkeys(analyze(question)) if term not in _NO_CONTENT]


def exact_terms(question: str) -> list[str]:
    """Terms of what a question names letter for letter, each once: its identifiers whole, and words with a digit (e0382)."""
    identifiers = whole_terms(question)
    coded = [word for word in analyze(question) if any(map(str.isdigit, word)) and any(map(str.isalpha, word))]
    return list(dict.fromkeys(identifiers + coded))
