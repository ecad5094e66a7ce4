// What the server answers to a question that changes while one looks at the answer.
import { useEffect, useState } from "preact/hooks";
import { ask } from "../../lib/api";

/** The last answer to `body`, a text of JSON; it stays until the next one is there. */
export function useAnswer<T>(path: string, body: string): { answer: T | undefined; error: unknown } {
  const [answer, setAnswer] = useState<T>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const ends = new AbortController();
    ask<T>(path, JSON.parse(body), ends.signal)
      .then((found) => {
        setAnswer(found);
        setError(undefined);
      })
      .catch((failure: unknown) => !ends.signal.aborted && setError(failure));
    return () => ends.abort();
  }, [path, body]);
  return { answer, error };
}
