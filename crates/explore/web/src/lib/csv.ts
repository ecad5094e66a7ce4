// Fields of CSV.

/** A field, quoted where a comma, a quote or a line break asks for it (RFC 4180); null is empty. */
export function csvField(value: string | number | null): string {
  const text = value === null ? "" : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
