// Numbers as `bentpipe compare` prints them, which the tests hold against it.

/** A time in seconds. */
export function decimal(seconds: number): string {
  return seconds.toFixed(seconds < 1 ? 3 : seconds < 10 ? 2 : 1);
}

/** The next of 1, 2, 2.5, 5, 10 ... that is no smaller. */
function nice(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const digit = [1, 2, 2.5, 5, 10].find((step) => step * power >= value * (1 - 1e-9)) ?? 10;
  return digit * power;
}

/** Round numbers from zero to `end`, at most about `count` of them. */
export function ticks(end: number, count: number): number[] {
  const step = nice(end / count);
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, i) => i * step);
}
