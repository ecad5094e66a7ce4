// Headings over several rows or columns of a table.

/** A heading of neighbours: where it begins, and how many it is over. */
export interface Heading {
  label: string;
  length: number;
  at: number;
}

/** Neighbours with the same label on a level, and on those before it, as one heading. */
export function headings(all: readonly (readonly string[])[], level: number): Heading[] {
  const found: Heading[] = [];
  const depth = all[0]?.length ?? 0;
  all.forEach((labels, at) => {
    const before = all[at - 1];
    const isSame =
      before !== undefined && level + 1 < depth && labels.slice(0, level + 1).every((label, i) => label === before[i]);
    const last = found[found.length - 1];
    if (isSame && last !== undefined) last.length += 1;
    else found.push({ label: labels[level] ?? "", length: 1, at });
  });
  return found;
}
