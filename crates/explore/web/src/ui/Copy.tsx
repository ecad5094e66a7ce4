// A button that copies text, and says so.
import { useEffect, useRef, useState } from "preact/hooks";
import { copyText } from "../lib/clipboard";
import { Button } from "./Button";

export interface CopyProps {
  /** What is copied. */
  text: string | (() => Promise<string>);
  /** What it is called in the notice: "the command". */
  what: string;
  /** Words on the button; without them it shows its icon. */
  children?: string | undefined;
}

export function Copy({ text, what, children }: CopyProps) {
  const [isDone, setDone] = useState(false);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <Button
      kind="quiet"
      size="small"
      icon={isDone ? "check" : "copy"}
      label={children === undefined ? `Copy ${what}` : undefined}
      onClick={() => {
        void copyText(text, what).then((done) => {
          setDone(done);
          timer.current = window.setTimeout(() => setDone(false), 2000);
        });
      }}
    >
      {children}
    </Button>
  );
}
