#!/usr/bin/env python3
"""Packs PostgreSQL's answers for the small catalog: visible/<S>/ducklake_<relation>.csv, one file a
snapshot, into one file a relation, and back.

    pack_visible.py pack   VISIBLE_DIR PACKED_DIR
    pack_visible.py unpack PACKED_DIR  VISIBLE_DIR
    pack_visible.py check  VISIBLE_DIR PACKED_DIR     unpacks in memory and compares byte by byte

A packed file holds the header line, every distinct row once (the CSV line as it is), and for every
snapshot the numbers of its rows in the order of its file. Nothing is parsed: lines are only counted.
"""

import pathlib
import sys

RELATIONS = ["schema", "table", "view", "column", "data_file", "delete_file"]


def ranges(numbers):
    """[1, 2, 3, 7] -> "1-3 7" """
    out = []
    for number in numbers:
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def numbers(text):
    out = []
    for part in text.split():
        first, _, last = part.partition("-")
        out.extend(range(int(first), int(last or first) + 1))
    return out


def pack(answers):
    """{snapshot: text of the CSV file} -> text of the packed file"""
    header, rows, lists = None, {}, {}
    for snapshot in sorted(answers, reverse=True):
        assert answers[snapshot].endswith("\n")
        first, *lines = answers[snapshot].split("\n")[:-1]
        assert header in (None, first)
        header = first
        lists[snapshot] = [rows.setdefault(line, len(rows) + 1) for line in lines]
        assert '"' not in "".join(lines) or all(line.count('"') % 2 == 0 for line in lines)
    out = ["header", header, f"rows {len(rows)}", *rows, "snapshots"]
    out += [f"{snapshot}: {ranges(lists[snapshot])}".rstrip() for snapshot in sorted(lists)]
    return "\n".join(out) + "\n"


def unpack(text):
    """text of the packed file -> {snapshot: text of the CSV file}"""
    lines = text.split("\n")[:-1]
    header, count = lines[1], int(lines[2].split()[1])
    rows = lines[3:3 + count]
    answers = {}
    for line in lines[4 + count:]:
        snapshot, _, listed = line.partition(":")
        body = [rows[number - 1] for number in numbers(listed)]
        answers[int(snapshot)] = "\n".join([header, *body]) + "\n"
    return answers


def read_visible(directory, relation):
    return {
        int(path.parent.name): path.read_bytes().decode()
        for path in pathlib.Path(directory).glob(f"*/ducklake_{relation}.csv")
    }


def main():
    command, source, target = sys.argv[1:]
    for relation in RELATIONS:
        if command == "unpack":
            packed = (pathlib.Path(source) / f"ducklake_{relation}.txt").read_bytes().decode()
            for snapshot, text in unpack(packed).items():
                directory = pathlib.Path(target) / str(snapshot)
                directory.mkdir(parents=True, exist_ok=True)
                (directory / f"ducklake_{relation}.csv").write_bytes(text.encode())
            continue
        answers = read_visible(source, relation)
        packed = pathlib.Path(target) / f"ducklake_{relation}.txt"
        if command == "pack":
            packed.parent.mkdir(parents=True, exist_ok=True)
            packed.write_bytes(pack(answers).encode())
        elif command != "check" or unpack(packed.read_bytes().decode()) != answers:
            sys.exit(f"{packed} is not what {source} says")


if __name__ == "__main__":
    main()
