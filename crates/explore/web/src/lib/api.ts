// Requests to the server of this page.
import { lost, request as fetched } from "./server";

/** What the server answered instead of a result, in words for the person at the page. */
export class Problem extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

/** No answer: the server has ended, or restarts. */
export class Unreachable extends Error {}

async function request(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const init: RequestInit = signal === undefined ? {} : { signal };
  let response: Response;
  try {
    response = await fetched(path, body, init);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    lost();
    throw new Unreachable("the server does not answer");
  }
  if (response.ok) return response;
  const text = await response.text();
  throw problem(text, response.status);
}

function problem(text: string, status: number): Problem {
  try {
    const { error } = JSON.parse(text) as { error: { message: string } & Record<string, unknown> };
    return new Problem(error.message, status, error);
  } catch {
    return new Problem(text.trim() === "" ? `status ${status}` : text.trim(), status);
  }
}

/** Asks with a JSON object (or by GET without one) and returns the answer. */
export async function ask<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await request(path, body, signal);
  try {
    return (await response.json()) as T;
  } catch (error) {
    // The connection broke within the answer.
    if (signal?.aborted === true) throw error;
    lost();
    throw new Unreachable("the server went away");
  }
}

/** Asks with a JSON object for a file. */
export async function file(path: string, body: unknown): Promise<Blob> {
  return (await request(path, body)).blob();
}

/**
 * Asks for results that come while work goes on: `each` is called with every line. Ends with
 * the work; aborting the signal cancels the work on the server.
 */
export async function stream<T>(
  path: string,
  body: unknown,
  each: (line: T) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await request(path, body, signal);
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    await lines(reader, each, signal);
  } finally {
    // After an error the server need not go on; after the end this does nothing.
    reader.cancel().catch(() => undefined);
  }
}

async function lines<T>(
  reader: ReadableStreamDefaultReader<string>,
  each: (line: T) => void,
  signal: AbortSignal,
): Promise<void> {
  let rest = "";
  for (;;) {
    let chunk: ReadableStreamReadResult<string>;
    try {
      chunk = await reader.read();
    } catch (error) {
      if (signal.aborted) throw error;
      lost();
      throw new Unreachable("the server went away");
    }
    if (chunk.done) break;
    const lines = (rest + chunk.value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") continue;
      const value = JSON.parse(line) as T & { error?: { message: string } & Record<string, unknown> };
      if (value.error !== undefined) throw new Problem(value.error.message, 200, value.error);
      each(value);
    }
  }
}
