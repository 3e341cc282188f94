#!/usr/bin/env python3
"""Make a judged collection of RFCs, in the form that `gannet-bench research` reads.

    rfc_collection.py FOLDER OUT

FOLDER is `usr/share/doc/RFC` of Debian's doc-rfc-* packages. Works are the older 85 % of the RFCs, with title, abstract
and the RFCs they name. Queries are sentences of the newest 15 % that name two to six of the older ones together: one
of these is the seed, the others are relevant, and the sentence without their names is the intent. Such sentences of
the works themselves are their contexts, from which an import learns: no document both teaches and judges.
"""
import glob
import gzip
import json
import os
import random
import re
import struct
import sys

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
REFERENCE = re.compile(r"\bRFC[ \-]?(\d{3,4})\b", re.I)
# Named by nearly every RFC, whatever it is about.
BOILERPLATE = {1264, 2026, 2119, 2223, 2434, 3552, 3978, 3979, 4748, 5226, 5378, 5741, 7322, 7841, 8126, 8174, 8179}
NEWEST_SHARE = 0.15
MAX_QUERIES_OF_A_WORK = 2
MAX_CONTEXTS_OF_A_WORK = 20


def read_index(folder):
    """Title and year by number."""
    text = gzip.open(os.path.join(folder, "rfc-index.txt.gz"), "rt", errors="replace").read()
    known = {}
    for entry in re.finditer(r"^(\d{4,5}) ((?:.+\n)(?:     .*\n)*)", text, re.M):
        line = " ".join(entry.group(2).split())
        if "Not Issued" in line:
            continue
        # The title ends where the first author or the date begins.
        title = re.split(r"\. [A-Z]{1,2}(?:\.[A-Z])*\. ?[A-Z]", line)[0]
        title = re.split(rf"\. (?:{MONTHS}) ", title)[0]
        year = re.search(r"\b(19[67]\d|19[89]\d|20[012]\d)\.", line)
        known[int(entry.group(1))] = (title[:300], int(year.group(1)) if year else None)
    return known


def read_text(path):
    """The text without page breaks, headers and footers."""
    text = gzip.open(path, "rt", errors="replace").read().replace("\r", "")
    text = re.sub(r"\n*[^\n]*\[Page \d+\]\s*\n*\f?\s*\n?(?:RFC \d+[^\n]*\n)?\n*", "\n\n", text)
    return text.replace("\f", "\n")


def abstract(text):
    found = re.search(r"^(?:\d\.\s*)?Abstract\s*$\n+(.*?)(?=^\S)", text, re.M | re.S)
    said = " ".join(found.group(1).split()) if found else ""
    if len(said) < 80:
        introduction = r"^(?:1\.?0?\.?\s+)?Introduction\s*$\n+(.*?)(?=^\d|\n\n\n|^[A-Z]\S+ [A-Z])"
        found = re.search(introduction, text, re.M | re.S | re.I)
        said = " ".join(found.group(1).split()) if found else said
    return said[:1800]


def body(text):
    """From the introduction to the references."""
    heading = r"^(?:\d+\.?\d*\.?\s+|Appendix [A-Z]\.?\s+)?(?:Normative |Informative )?References\s*$"
    ends = [found.start() for found in re.finditer(heading, text, re.M | re.I) if found.start() > len(text) * 0.3]
    start = re.search(r"^1\.?\s+Introduction", text, re.M)
    return text[start.start() if start else 0 : ends[0] if ends else len(text)]


def sentences(text):
    for paragraph in re.split(r"\n\s*\n", text):
        joined = " ".join(paragraph.split())
        if len(joined) >= 60 and "...." not in joined and "---" not in joined:
            yield from re.split(r"(?<=[a-z\])])\. (?=[A-Z])", joined)


def without_names(sentence):
    plain = REFERENCE.sub("", re.sub(r"\[[^\]]{0,30}\]", "", sentence))
    return re.sub(r"\(\s*[,;and ]*\)", "", re.sub(r"\s+", " ", plain)).strip(" ,;.")


def citing_sentences(text, place, citing):
    for sentence in sentences(body(text)):
        cited = dict.fromkeys(int(number) for number in REFERENCE.findall(sentence))
        cited = [number for number in cited if number in place and number not in BOILERPLATE | {citing}]
        if not 2 <= len(cited) <= 6:
            continue
        intent = without_names(sentence)
        if 8 <= len(re.findall(r"[A-Za-z]{3,}", intent)) <= 60 and 'MUST", "' not in sentence:
            yield intent, cited


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, out = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    known = read_index(folder)
    texts = {}
    for path in sorted(glob.glob(os.path.join(folder, "**", "rfc*.txt.gz"), recursive=True)):
        name = re.match(r"rfc(\d+)\.txt\.gz$", os.path.basename(path))
        if name and int(name.group(1)) in known:
            texts.setdefault(int(name.group(1)), read_text(path))
    numbers = sorted(texts)
    cut = numbers[int(len(numbers) * (1 - NEWEST_SHARE))]
    place = {number: at for at, number in enumerate(number for number in numbers if number < cut)}
    random.seed(16)
    queries = []
    for number in (number for number in numbers if number >= cut):
        found = list(citing_sentences(texts[number], place, number))
        random.shuffle(found)
        for intent, cited in found[:MAX_QUERIES_OF_A_WORK]:
            seed = random.choice(cited)
            relevant = [place[other] for other in cited if other != seed]
            queries.append({"src": f"10.17487/rfc{number}", "intent": intent, "seed": place[seed], "rel": relevant})
    random.shuffle(queries)
    edges = contexts = 0
    with gzip.open(os.path.join(out, "docs.jsonl.gz"), "wt") as documents, gzip.open(
        os.path.join(out, "edges.u32le.gz"), "wb"
    ) as lists:
        for number, at in place.items():
            title, year = known[number]
            row = {"i": at, "doi": f"10.17487/rfc{number:04d}", "year": year, "title": title}
            row |= {"abstract": abstract(texts[number]) or None, "subj": []}
            found = list(citing_sentences(texts[number], place, number))[:MAX_CONTEXTS_OF_A_WORK]
            row["contexts"] = [{"text": text, "cited": [place[other] for other in cited]} for text, cited in found]
            contexts += len(found)
            documents.write(json.dumps(row) + "\n")
            for cited in sorted({int(other) for other in REFERENCE.findall(texts[number])} - {number}):
                if cited in place:
                    lists.write(struct.pack("<II", at, place[cited]))
                    edges += 1
    with open(os.path.join(out, "queries_dev.json"), "w") as file:
        json.dump(queries, file)
    print(f"{len(place)} works, {edges} citations, {contexts} contexts, {len(queries)} queries")


main()
