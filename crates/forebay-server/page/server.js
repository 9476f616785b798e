// Calls to the server: the token goes with each as a header, and never into an address.

const KEY = "forebay-token";

/** How long an answer may take, in milliseconds, where nothing else is said. */
const PATIENCE = 15_000;

export const session = {
  get token() { return sessionStorage.getItem(KEY); },
  set token(token) { sessionStorage.setItem(KEY, token); },
  forget() { sessionStorage.removeItem(KEY); },
};

/** What the server has refused, in its own words. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem?.detail ?? `the server answers ${status}`);
    this.status = status;
  }
}

/** Calls the server, and returns the response if it is a good one; one that does not end in time is given up. */
export async function call(path, options = {}) {
  const headers = { ...options.headers };
  if (session.token !== null) headers.authorization = `Bearer ${session.token}`;
  const signal = options.signal ?? AbortSignal.timeout(PATIENCE);
  const response = await fetch(path, { ...options, signal, headers, cache: "no-store" });
  if (response.ok) return response;
  throw new Refused(response.status, await response.json().catch(() => null));
}

export const json = async (path, options) => (await call(path, options)).json();

/** Reads a stream of events to its end; `heard` is told of each with its name and data. However that ends, it is closed. */
export async function events(path, signal, heard) {
  const response = await call(path, { signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    await read(reader, heard);
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function read(reader, heard) {
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const frames = text.split("\n\n");
    text = frames.pop();
    for (const frame of frames) {
      const fields = new Map(frame.split("\n").map((line) => line.split(/: (.*)/s, 2)));
      if (fields.has("data")) heard(fields.get("event"), JSON.parse(fields.get("data")));
    }
  }
}
