// Files of orbital elements for tests.

function line(text: string): string {
  const padded = text.padEnd(68).slice(0, 68);
  let sum = 0;
  for (const c of padded) sum += c === "-" ? 1 : c >= "0" && c <= "9" ? Number(c) : 0;
  return padded + String(sum % 10);
}

/** A shell of circular orbits as TLE: evenly spaced planes over 360 degrees. */
export function shell(planes: number, perPlane: number, inclination: number, turnsADay: number): string {
  const lines: string[] = [];
  const angle = (degrees: number) => (((degrees % 360) + 360) % 360).toFixed(4).padStart(8);
  for (let plane = 0; plane < planes; plane++) {
    for (let slot = 0; slot < perPlane; slot++) {
      const number = String(10_000 + plane * perPlane + slot).padStart(5, "0");
      const node = (360 * plane) / planes;
      const mean = (360 * slot) / perPlane + (180 * plane) / planes / perPlane;
      lines.push(`SAT ${plane}-${slot}`);
      lines.push(line(`1 ${number}U 26001A   26080.50000000  .00000000  00000-0  00000-0 0  999`));
      lines.push(line(`2 ${number} ${angle(inclination)} ${angle(node)} 0000001 ${angle(0)} ${angle(mean)} ${turnsADay.toFixed(8).padStart(11)}    1`));
    }
  }
  return lines.join("\n") + "\n";
}
