// Places in what is in order.

/** The index of the last of `count` items that begins at `time` or before; -1 if none. */
export function lastAt(count: number, begins: (index: number) => number, time: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (begins(middle) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
