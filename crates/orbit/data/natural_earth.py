#!/usr/bin/env python3
"""Packs Natural Earth's populated places and land areas for bentpipe.

    natural_earth.py PLACES.dbf LAND.shp

writes `places.txt` beside this script and `crates/present/src/map/land.txt`.

PLACES.dbf is `ne_10m_populated_places_simple.dbf`, LAND.shp is
`ne_110m_land.shp`, both of version 2.0.0 of Natural Earth (naturalearthdata.com,
public domain). Debian's package `libmagics++-data` 4.13.0-1 contains both, in
`/usr/share/magics/10m` and `/usr/share/magics/110m`.
"""

import struct
import sys
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAND = HERE.parents[1] / "present/src/map/land.txt"

# Codes that the original lacks or has wrong.
CODES = {"Kosovo": "XK", "Senegal": "SN", "Somaliland": "-", "Northern Cyprus": "-"}

# Other names of countries than the original's.
COUNTRIES = {
    "US": ["United States", "USA", "America"],
    "GB": ["UK", "Great Britain", "Britain", "England", "Scotland", "Wales", "Northern Ireland"],
    "AE": ["UAE", "Emirates"],
    "CD": ["Democratic Republic of the Congo", "DR Congo", "DRC"],
    "CG": ["Republic of the Congo", "Congo"],
    "CZ": ["Czechia"],
    "HK": ["Hong Kong"],
    "MO": ["Macau", "Macao"],
    "MK": ["North Macedonia"],
    "SZ": ["Eswatini"],
    "TL": ["Timor-Leste"],
    "CI": ["Cote d'Ivoire"],
    "CV": ["Cabo Verde"],
    "MM": ["Burma"],
    "VA": ["Vatican"],
    "NL": ["Holland", "The Netherlands"],
    "TR": ["Turkiye"],
    "KR": ["Korea"],
    "AX": ["Aland Islands"],
    "SJ": ["Svalbard"],
    "BS": ["Bahamas"],
    "GM": ["Gambia"],
}

# What regions are called in addresses.
REGIONS = {
    "US": dict(
        line.split("=")
        for line in """Alabama=AL Alaska=AK Arizona=AZ Arkansas=AR California=CA Colorado=CO
        Connecticut=CT Delaware=DE District_of_Columbia=DC Florida=FL Georgia=GA Hawaii=HI Idaho=ID
        Illinois=IL Indiana=IN Iowa=IA Kansas=KS Kentucky=KY Louisiana=LA Maine=ME Maryland=MD
        Massachusetts=MA Michigan=MI Minnesota=MN Mississippi=MS Missouri=MO Montana=MT Nebraska=NE
        Nevada=NV New_Hampshire=NH New_Jersey=NJ New_Mexico=NM New_York=NY North_Carolina=NC
        North_Dakota=ND Ohio=OH Oklahoma=OK Oregon=OR Pennsylvania=PA Rhode_Island=RI
        South_Carolina=SC South_Dakota=SD Tennessee=TN Texas=TX Utah=UT Vermont=VT Virginia=VA
        Washington=WA West_Virginia=WV Wisconsin=WI Wyoming=WY""".split()
    ),
    "CA": dict(
        line.split("=")
        for line in """Alberta=AB British_Columbia=BC Manitoba=MB New_Brunswick=NB
        Newfoundland_and_Labrador=NL Northwest_Territories=NT Nova_Scotia=NS Nunavut=NU Ontario=ON
        Prince_Edward_Island=PE Québec=QC Saskatchewan=SK Yukon=YT""".split()
    ),
    "AU": dict(
        line.split("=")
        for line in """Australian_Capital_Territory=ACT New_South_Wales=NSW Northern_Territory=NT
        Queensland=QLD South_Australia=SA Tasmania=TAS Victoria=VIC Western_Australia=WA""".split()
    ),
}

# English and later names that the original lacks, by country and ASCII name.
ALSO = {
    ("BE", "Antwerpen"): ["Antwerp"],
    ("BE", "Gent"): ["Ghent"],
    ("CN", "Beijing"): ["Peking"],
    ("CZ", "Pizen"): ["Pilsen"],
    ("DE", "Hannover"): ["Hanover"],
    ("ES", "Zaragoza"): ["Saragossa"],
    ("ES", "Palma"): ["Mallorca", "Majorca"],
    ("FK", "Stanley"): ["Port Stanley"],
    ("IL", "Tel Aviv-Yafo"): ["Tel Aviv"],
    ("IN", "Bangalore"): ["Bengaluru"],
    ("KZ", "Astana"): ["Nur-Sultan"],
    ("MN", "Ulaanbaatar"): ["Ulan Bator"],
    ("PL", "Krakow"): ["Cracow"],
    ("PT", "Porto"): ["Oporto"],
    ("RU", "St. Petersburg"): ["Sankt-Peterburg"],
    ("RU", "Archangel"): ["Arkhangelsk"],
    ("SJ", "Longyearbyen"): ["Svalbard"],
    ("TR", "Izmir"): ["Smyrna"],
    ("UA", "Lvov"): ["Lviv"],
    ("UA", "Odessa"): ["Odesa"],
    ("US", "Barrow"): ["Utqiagvik"],
    ("US", "New York"): ["New York City", "NYC"],
    ("US", "Washington, D.C."): ["Washington", "Washington DC"],
    ("VN", "Ho Chi Minh City"): ["Saigon"],
    ("AQ", "McMurdo Station"): ["McMurdo"],
}


def records(path):
    """The rows of a dBASE file."""
    data = path.read_bytes()
    count, header, length = struct.unpack("<IHH", data[4:12])
    fields, at = [], 32
    while data[at] != 13:
        name = data[at : at + 11].split(b"\0")[0].decode()
        fields.append((name, data[at + 16]))
        at += 32
    for index in range(count):
        at, row = header + index * length + 1, {}
        for name, width in fields:
            row[name] = data[at : at + width].decode("cp1252").strip()
            at += width
        yield row


def fold(text):
    """Small letters and digits alone, without accents."""
    text = unicodedata.normalize("NFKD", text).lower()
    return "".join(c for c in text if c.isalnum())


def other_names(row, code):
    """Names of a place beside the first, no two alike."""
    found = [row["nameascii"]]
    for field in ("namepar", "namealt", "meganame"):
        for part in row[field].replace("|", ",").replace("(", ",").replace(")", ",").split(","):
            found.append(part.strip())
    # Some of them are the region's or the country's.
    wider = {fold(row["adm0name"]), fold(row["adm1name"])}
    found = [name for name in found if fold(name) not in wider]
    found += ALSO.get((code, row["nameascii"]), [])
    seen, names = {fold(row["name"]), ""}, []
    for name in found:
        if fold(name) not in seen and "?" not in name and len(fold(name)) > 1:
            seen.add(fold(name))
            names.append(name)
    return names


def places(path):
    """The packed text."""
    countries = defaultdict(list)
    for row in records(path):
        code = CODES.get(row["adm0name"], row["iso_a2"])
        name = row["adm0name"]
        if code in ("GF", "GP", "MQ", "RE", "YT"):
            name = {
                "GF": "French Guiana",
                "GP": "Guadeloupe",
                "MQ": "Martinique",
                "RE": "Reunion",
                "YT": "Mayotte",
            }[code]
        countries[(name, code)].append(row)
    lines = [
        "# Natural Earth 2.0.0, 10m populated places (public domain), packed by natural_earth.py.",
        "# @CODE|COUNTRY|OTHER NAMES; =REGION|CODE; NAME|OTHER NAMES, thousands of people, then",
        "# latitude and longitude in hundredths of a degree.",
    ]
    for (country, code), rows in sorted(countries.items()):
        lines.append("|".join(["@" + code, country, *COUNTRIES.get(code, [])]))
        # Regions tell places of one name apart; where people write them they are all kept.
        names = Counter(fold(row["name"]) for row in rows)
        regions = defaultdict(list)
        for row in rows:
            kept = code in REGIONS or names[fold(row["name"])] > 1
            regions[row["adm1name"] if kept else ""].append(row)
        for region, rows in sorted(regions.items()):
            if region:
                short = REGIONS.get(code, {}).get(region.replace(" ", "_"))
                lines.append("=" + region + (f"|{short}" if short else ""))
            for row in sorted(rows, key=lambda row: fold(row["name"])):
                name = "|".join([row["name"], *other_names(row, code)])
                people = round(int(row["pop_max"]) / 1000)
                at = [round(100 * float(row[key])) for key in ("latitude", "longitude")]
                lines.append(f"{name}\t{max(people, 0)}\t{at[0]}{at[1]:+}")
    return "\n".join(lines) + "\n"


def land(path):
    """A ring a line: its first point and the steps from point to point, longitude
    before latitude, in hundredths of a degree."""
    data = path.read_bytes()
    at, rings = 100, []
    while at < len(data):
        words = struct.unpack(">i", data[at + 4 : at + 8])[0]
        body = data[at + 8 : at + 8 + 2 * words]
        at += 8 + 2 * words
        parts, points = struct.unpack("<ii", body[36:44])
        first = [*struct.unpack(f"<{parts}i", body[44 : 44 + 4 * parts]), points]
        for a, b in zip(first, first[1:]):
            start = 44 + 4 * parts
            ring = [struct.unpack("<dd", body[start + 16 * i :][:16]) for i in range(a, b)]
            rings.append([(round(100 * x), round(100 * y)) for x, y in ring])
    lines = [
        "# Natural Earth 2.0.0, 110m land (public domain), packed by orbit/data/natural_earth.py."
    ]
    for ring in sorted(rings, key=len, reverse=True):
        x, y = 0, 0
        words = []
        for point in ring[:-1]:
            if point != (x, y) or not words:
                words.append(f"{point[0] - x},{point[1] - y}")
                x, y = point
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for target, text in [
        (HERE / "places.txt", places(Path(sys.argv[1]))),
        (LAND, land(Path(sys.argv[2]))),
    ]:
        target.write_text(text, encoding="utf-8")
        print(f"wrote {target}: {len(text.encode())} bytes, {text.count(chr(10))} lines")


main()
