#!/usr/bin/env python3
"""Makes a store with many messages, the same bytes on every machine.

    benches/messages.py FOLDER [COUNT]     COUNT messages (default 1,000,000), half typed, half replies

Writes FOLDER/omni-run.db with the first schema (migrations/0001), so that the first search
fills the index: that is measured too. The text is made up, but shaped like the real thing:
words by Zipf's law in English with code, paths and hashes, German, Russian, Chinese and Japanese;
lengths by a log-normal law (typed: median 25 words, replies: median 90, some with thousands). Two
years of sessions, six engines, 40 projects of very different size. A few words are planted, for
searches whose answer is known.
"""

import random
import sqlite3
import sys
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "src/session/migrations/0001_first_tables.sql"
END = 1_796_000_000_000  # milliseconds; the newest session
TWO_YEARS = 2 * 365 * 86_400_000
STREAM = 2_000_000  # words of each language from which the messages are cut

COMMON = """the to and a of in is it that for you with on this be as are not we can if or but have
from an will at by was all which use one so there when file they has more then what your code out
test only should error into than new also how any line up do set add run time just first been now
other its some would return value my need name no like each data after function about type these
user make list between does where change same call two get fix here read string them still while
over default using build path before see way their check next because without since write both
state because output input work key version show command find option config session message project
search store token docs prompt engine model result case why again please could server client table
index query row thread lock queue retry branch commit merge review deploy cache timeout memory""".split()
GERMAN = """der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an
werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben
nur oder aber vor zur bis mehr durch man sein wurde prüfen größe müssen können schließen lösung
änderung ausführen fehler datei zeile straße später während möglich""".split()
RUSSIAN = """и в не на я что тот быть с а весь это как она по но они к у ты из мы за вы так же от
сказать этот который мочь человек о один ещё бы такой только себя своё какой когда уже для вот кто да
говорить год файл ошибка строка проверка запуск поиск сообщение проект""".split()


class Language:
    """A vocabulary in the order of how often each word is used, and a stream of its words."""

    def __init__(self, rng, words, joiner):
        self.joiner = joiner
        weights = list(accumulate(1 / (rank + 2.7) ** 1.05 for rank in range(len(words))))
        self.stream = rng.choices(words, cum_weights=weights, k=STREAM)

    def text(self, rng, words):
        start = rng.randrange(STREAM - words)
        return self.joiner.join(self.stream[start:start + words])


def made_up(rng, common, syllables, count, parts):
    known, words = set(common), list(common)
    while len(words) < count:
        word = "".join(rng.choice(syllables) for _ in range(rng.randint(*parts)))
        if word not in known:
            known.add(word)
            words.append(word)
    return words


def languages(rng):
    latin = [c + v + e for c in "b c d f g h k l m n p r s t v w st tr pl con".split()
             for v in "aeiou" for e in ("", "", "n", "r", "s", "l")]
    umlauts = latin + ["für", "mäß", "ßen", "öl", "grü", "schl", "ung", "keit"]
    cyrillic = [c + v for c in "бвгдзклмнпрстфхцчш" for v in "аеиоуыя"]
    han = [chr(c) for c in range(0x4E00, 0x4E00 + 3500)]
    rng.shuffle(han)
    # The most used characters are in far more words than the others.
    often = [han[min(int(rng.expovariate(1 / 400)), 3499)] for _ in range(20_000)]
    kana = [chr(c) for c in range(0x3042, 0x3094)] + [chr(c) for c in range(0x30A2, 0x30F4)]
    return {
        "english": Language(rng, made_up(rng, COMMON, latin, 60_000, (2, 4)), " "),
        "german": Language(rng, made_up(rng, GERMAN, umlauts, 60_000, (2, 5)), " "),
        "russian": Language(rng, made_up(rng, RUSSIAN, cyrillic, 50_000, (2, 5)), " "),
        "chinese": Language(rng, made_up(rng, "的 是 不 了 在 有 我 他 这 中".split(), often, 40_000, (1, 3)), ""),
        "japanese": Language(rng, made_up(rng, "の は に を が で と も て た".split(), kana + often[:4000], 40_000, (1, 4)), ""),
    }


SHARES = [("english", 70), ("german", 8), ("russian", 7), ("chinese", 9), ("japanese", 6)]
ENGINES = [("claude", 50), ("codex", 25), ("gemini", 12), ("cursor", 8), ("opencode", 4.9), ("pi", 0.1)]

# What the benchmark looks for: word, and in how many messages it is planted.
PLANTED = [("quokkasaurus", 12), ("the purple wombat sings", 40), ("検索機能", 300), ("龘龘", 25)]


def code_words(rng, n):
    """What stands between the words of a session with an agent: nearly each one is new."""
    kinds = (
        lambda: f"src/{n % 97}/part_{rng.randrange(5000)}.rs:{rng.randrange(900)}",
        lambda: f"{rng.getrandbits(64):016x}",
        lambda: f"get_{rng.choice(COMMON)}_{rng.choice(COMMON)}()",
        lambda: str(rng.randrange(100_000)),
    )
    return " ".join(rng.choice(kinds)() for _ in range(rng.randint(0, 6)))


def text_of(rng, spoken, language, median, n):
    words = min(max(int(rng.lognormvariate(0, 0.9) * median), 1), 6000)
    text = spoken[language].text(rng, words)
    code = code_words(rng, n)
    return f"{text}\n\n{code}\n" if code else text


def make(folder, count):
    rng = random.Random(20260131)
    spoken = languages(rng)
    projects = [f"p{n}" for n in range(1, 41)]
    project_weights = list(accumulate(1 / rank ** 1.3 for rank in range(1, 41)))
    planted = {rng.randrange(count): word for word, times in PLANTED for _ in range(times)}
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    database = folder / "omni-run.db"
    connection = sqlite3.connect(database)
    connection.executescript(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; BEGIN;" + SCHEMA.read_text()
        + "PRAGMA application_id = 0x6f6d6e72; PRAGMA user_version = 1; COMMIT;")
    database.chmod(0o600)
    sessions = count // 2
    connection.execute("BEGIN")
    for n in range(sessions):
        start = END - TWO_YEARS + n * TWO_YEARS // sessions + rng.randrange(TWO_YEARS // sessions + 1)
        bits = rng.getrandbits(74)
        id_ = (f"{start:012x}7{bits >> 62:03x}{0x8000 | (bits >> 48) & 0x3FFF:04x}"
               f"{bits & 0xFFFFFFFFFFFF:012x}")
        id_ = f"{id_[:8]}-{id_[8:12]}-{id_[12:16]}-{id_[16:20]}-{id_[20:]}"
        engine = rng.choices([e for e, _ in ENGINES], [w for _, w in ENGINES])[0]
        project = rng.choices(projects, cum_weights=project_weights)[0]
        language = rng.choices([l for l, _ in SHARES], [w for _, w in SHARES])[0]
        failed = rng.random() < 0.04
        end = start + rng.randrange(2_000, 600_000)
        connection.execute(
            "INSERT INTO sessions VALUES (?, ?, NULL, ?, ?, ?, 'one_shot', NULL, ?, ?, ?, ?, NULL, ?)",
            (id_, engine, project, f"/home/u/{project}", f"/home/u/{project}", f'["{engine}","-p"]',
             start, end, int(failed), "failed" if failed else "ok"))
        typed = text_of(rng, spoken, language, 25, n)
        reply = text_of(rng, spoken, language, 90, n)
        typed += f" {planted[2 * n]}" if 2 * n in planted else ""
        reply += f" {planted[2 * n + 1]}" if 2 * n + 1 in planted else ""
        connection.executemany(
            "INSERT INTO messages (session_id, seq, role, text, created_at) VALUES (?, ?, ?, ?, ?)",
            [(id_, 1, "operator", typed, start), (id_, 2, "engine", reply, end)])
    connection.execute("COMMIT")
    connection.close()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    make(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 1_000_000)
