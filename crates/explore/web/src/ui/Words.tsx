// Sentences of the server, where `--loss` and the like stand in backticks.

/** A text with what stands in backticks as code. */
export function Words({ text }: { text: string }) {
  return <>{text.split("`").map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>;
}
