// What the server answers to a question that may change while one looks at the answer.
import { useEffect, useState } from "preact/hooks";
import { ask } from "./api";

/** The last answer to a question; it stays until the next one is there. `retry` asks again. */
export function useAnswer<T>(path: string, question: unknown) {
  const [answer, setAnswer] = useState<T>();
  const [error, setError] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  const body = JSON.stringify(question);
  useEffect(() => {
    const ends = new AbortController();
    ask<T>(path, JSON.parse(body), ends.signal)
      .then((found) => {
        setAnswer(found);
        setError(undefined);
      })
      .catch((failure: unknown) => !ends.signal.aborted && setError(failure));
    return () => ends.abort();
  }, [path, body, attempt]);
  const retry = () => {
    setError(undefined);
    setAttempt(attempt + 1);
  };
  return { answer, error, retry, setAnswer };
}
