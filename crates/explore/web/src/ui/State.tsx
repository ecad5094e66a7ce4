// What is shown where there is nothing yet, nothing at all, or something went wrong.
import type { ComponentChildren } from "preact";
import { Unreachable } from "../lib/api";
import { Button } from "./Button";

/** Nothing is here; says why, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <h2>{title}</h2>
      <div class="state-words">{children}</div>
    </div>
  );
}

/** Something is on its way. */
export function Loading({ children = "Loading …" }: { children?: ComponentChildren }) {
  return (
    <div class="state">
      <span class="busy" role="status">
        {children}
      </span>
    </div>
  );
}

/** Something went wrong; `onRetry` offers to try again. */
export function Failed({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  return (
    <div class="state" role="alert">
      <h2>{error instanceof Unreachable ? "The server does not answer" : "The request failed"}</h2>
      <p class="state-words">{messageOf(error)}</p>
      {onRetry !== undefined && (
        <Button icon="reset" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** The words of something that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Words in a box beside other content. */
export function Note({
  kind = "plain",
  children,
}: {
  kind?: "plain" | "good" | "warn" | "bad";
  children: ComponentChildren;
}) {
  return <div class={kind === "plain" ? "note" : `note note-${kind}`}>{children}</div>;
}

/** How far work is, from 0 to 1. */
export function Progress({ done, label }: { done: number; label: string }) {
  return <progress class="progress" value={done} max={1} aria-label={label} />;
}
