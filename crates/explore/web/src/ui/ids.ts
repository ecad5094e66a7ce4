// Names of elements that refer to each other.
import { useId } from "preact/hooks";

/** Names for an element and those that describe it, unique in the page. */
export function useIds(): { id: string; help: string; note: string } {
  const id = useId();
  return { id, help: `${id}-help`, note: `${id}-note` };
}
