#!/usr/bin/env python3
"""Cut a TrueType font down to the characters that our figures can show.

    subset.py DejaVuSans.ttf DejaVuSans-subset.ttf

Needs nothing but Python. Keeps the outlines and the advance widths of the
characters in RANGES, drops hinting (figures are drawn large or as vectors),
kerning and ligatures (so that the width of a text is the sum of its advances).
"""

import struct
import sys

RANGES = [
    (0x20, 0x7E),  # Basic Latin
    (0xA0, 0x17F),  # Latin-1 and Latin Extended-A
    (0x391, 0x3C9),  # Greek
    (0x401, 0x45F),  # Cyrillic
    (0x2009, 0x2009),  # thin space
    (0x2010, 0x2026),  # dashes, quotation marks, ellipsis
    (0x2030, 0x2033),  # per mille, primes
    (0x2070, 0x209C),  # superscripts and subscripts
    (0x20AC, 0x20AC),  # euro
    (0x2113, 0x2122),  # letterlike
    (0x2190, 0x2199),  # arrows
    (0x21D2, 0x21D4),
    (0x2200, 0x221E),  # mathematics
    (0x2227, 0x222B),
    (0x2248, 0x2248),
    (0x2260, 0x226B),
    (0x22C5, 0x22C5),
    (0x2580, 0x259F),  # blocks
    (0x25A0, 0x25CF),  # shapes
    (0x2713, 0x2717),  # check marks
    (0xFFFD, 0xFFFD),
]


def tables_of(font):
    count = struct.unpack(">H", font[4:6])[0]
    found = {}
    for i in range(count):
        tag, _, offset, length = struct.unpack(">4sLLL", font[12 + 16 * i : 28 + 16 * i])
        found[tag.decode()] = font[offset : offset + length]
    return found


def read_cmap(cmap):
    count = struct.unpack(">H", cmap[2:4])[0]
    for i in range(count):
        platform, encoding, offset = struct.unpack(">HHL", cmap[4 + 8 * i : 12 + 8 * i])
        sub = cmap[offset:]
        if (platform, encoding) != (3, 1) or struct.unpack(">H", sub[:2])[0] != 4:
            continue
        seg = struct.unpack(">H", sub[6:8])[0] // 2
        ends = struct.unpack(">%dH" % seg, sub[14 : 14 + 2 * seg])
        starts = struct.unpack(">%dH" % seg, sub[16 + 2 * seg : 16 + 4 * seg])
        deltas = struct.unpack(">%dH" % seg, sub[16 + 4 * seg : 16 + 6 * seg])
        at = 16 + 6 * seg
        offsets = struct.unpack(">%dH" % seg, sub[at : at + 2 * seg])
        mapping = {}
        for k in range(seg):
            for code in range(starts[k], ends[k] + 1):
                if offsets[k] == 0:
                    glyph = (code + deltas[k]) & 0xFFFF
                else:
                    place = at + 2 * k + offsets[k] + 2 * (code - starts[k])
                    glyph = struct.unpack(">H", sub[place : place + 2])[0]
                    glyph = (glyph + deltas[k]) & 0xFFFF if glyph else 0
                if glyph:
                    mapping[code] = glyph
        return mapping
    sys.exit("no Unicode character map of format 4")


def components(glyph):
    """Offsets of the glyph numbers inside a composite glyph."""
    if len(glyph) < 10 or struct.unpack(">h", glyph[:2])[0] >= 0:
        return []
    at, found = 10, []
    while True:
        flags = struct.unpack(">H", glyph[at : at + 2])[0]
        found.append(at + 2)
        at += 4 + (4 if flags & 1 else 2)
        at += 2 if flags & 8 else 4 if flags & 0x40 else 8 if flags & 0x80 else 0
        if not flags & 0x20:
            return found


def strip_hints(glyph):
    """Removes the instructions of a glyph."""
    if len(glyph) < 10:
        return glyph
    contours = struct.unpack(">h", glyph[:2])[0]
    if contours >= 0:
        at = 10 + 2 * contours
        length = struct.unpack(">H", glyph[at : at + 2])[0]
        return glyph[:at] + b"\0\0" + glyph[at + 2 + length :]
    glyph = bytearray(glyph)
    for place in components(glyph):
        flags = struct.unpack(">H", glyph[place - 2 : place])[0]
        glyph[place - 2 : place] = struct.pack(">H", flags & ~0x100)
        end = place + 2 + (4 if flags & 1 else 2)
        end += 2 if flags & 8 else 4 if flags & 0x40 else 8 if flags & 0x80 else 0
    return bytes(glyph[:end])


def write_cmap(mapping):
    codes = sorted(mapping)
    segments = []
    for code in codes:
        last = segments[-1] if segments else None
        if last and code == last[1] + 1 and mapping[code] == mapping[last[1]] + 1:
            last[1] = code
        else:
            segments.append([code, code])
    segments.append([0xFFFF, 0xFFFF])
    count = len(segments)
    power = 1
    while power * 2 <= count:
        power *= 2
    deltas = [(mapping[s] - s) & 0xFFFF for s, _ in segments[:-1]] + [1]
    body = struct.pack(">HHHH", 2 * count, 2 * power, power.bit_length() - 1, 2 * (count - power))
    body += struct.pack(">%dH" % count, *[e for _, e in segments]) + b"\0\0"
    body += struct.pack(">%dH" % count, *[s for s, _ in segments])
    body += struct.pack(">%dH" % count, *deltas) + b"\0\0" * count
    sub = struct.pack(">HHH", 4, 6 + len(body), 0) + body
    return struct.pack(">HHHHL", 0, 1, 3, 1, 12) + sub


def checksum(data):
    data += b"\0" * (-len(data) % 4)
    return sum(struct.unpack(">%dL" % (len(data) // 4), data)) & 0xFFFFFFFF


def main(source, target):
    font = tables_of(open(source, "rb").read())
    mapping = read_cmap(font["cmap"])
    wide = struct.unpack(">h", font["head"][50:52])[0]
    total = struct.unpack(">H", font["maxp"][4:6])[0]
    if wide:
        loca = struct.unpack(">%dL" % (total + 1), font["loca"][: 4 * total + 4])
    else:
        loca = [2 * v for v in struct.unpack(">%dH" % (total + 1), font["loca"][: 2 * total + 2])]
    metrics = struct.unpack(">H", font["hhea"][34:36])[0]

    def outline(g):
        return font["glyf"][loca[g] : loca[g + 1]]

    def advance(g):
        last = min(g, metrics - 1)
        width = font["hmtx"][4 * last : 4 * last + 2]
        if g < metrics:
            return width + font["hmtx"][4 * g + 2 : 4 * g + 4]
        at = 4 * metrics + 2 * (g - metrics)
        return width + font["hmtx"][at : at + 2]

    wanted = {c: mapping[c] for a, b in RANGES for c in range(a, b + 1) if c in mapping}
    order = [0]
    for code in sorted(wanted):
        if wanted[code] not in order:
            order.append(wanted[code])
    for g in order:  # grows while we walk: the parts of accented letters
        data = outline(g)
        for place in components(data):
            part = struct.unpack(">H", data[place : place + 2])[0]
            if part not in order:
                order.append(part)
    number = {g: i for i, g in enumerate(order)}

    glyf, offsets, hmtx = b"", [0], b""
    for g in order:
        data = bytearray(strip_hints(outline(g)))
        for place in components(data):
            part = struct.unpack(">H", data[place : place + 2])[0]
            data[place : place + 2] = struct.pack(">H", number[part])
        glyf += bytes(data) + b"\0" * (-len(data) % 4)
        offsets.append(len(glyf))
        hmtx += advance(g)

    head = bytearray(font["head"])
    head[8:12] = b"\0" * 4
    head[50:52] = struct.pack(">h", 1)
    hhea = bytearray(font["hhea"])
    hhea[34:36] = struct.pack(">H", len(order))
    maxp = bytearray(font["maxp"])
    maxp[4:6] = struct.pack(">H", len(order))
    maxp[26:28] = b"\0\0"
    out = {
        "OS/2": font["OS/2"],
        "cmap": write_cmap({c: number[g] for c, g in wanted.items()}),
        "glyf": glyf,
        "head": bytes(head),
        "hhea": bytes(hhea),
        "hmtx": hmtx,
        "loca": struct.pack(">%dL" % len(offsets), *offsets),
        "maxp": bytes(maxp),
        "name": font["name"],
        "post": struct.pack(">L", 0x30000) + font["post"][4:16] + b"\0" * 16,
    }
    power = 8
    header = struct.pack(">LHHHH", 0x10000, len(out), 16 * power, 3, 16 * (len(out) - power))
    directory, body, at = b"", b"", 12 + 16 * len(out)
    for tag in sorted(out):
        data = out[tag]
        directory += struct.pack(">4sLLL", tag.encode(), checksum(data), at + len(body), len(data))
        body += data + b"\0" * (-len(data) % 4)
    whole = bytearray(header + directory + body)
    adjust = (0xB1B0AFBA - checksum(bytes(whole))) & 0xFFFFFFFF
    for i in range(len(out)):
        tag, _, offset, _ = struct.unpack(">4sLLL", whole[12 + 16 * i : 28 + 16 * i])
        if tag == b"head":
            whole[offset + 8 : offset + 12] = struct.pack(">L", adjust)
    open(target, "wb").write(whole)
    print(f"{target}: {len(wanted)} characters, {len(order)} glyphs, {len(whole)} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
