/** HTTP requests of tests, with a JSON body and a bearer token. */

interface Sent {
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as a bearer token. */
  token?: string | undefined;
  headers?: Record<string, string> | undefined;
}

export const request = (url: string, method: string, { body, token, headers }: Sent = {}): Promise<Response> =>
  fetch(url, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** @param token sent as a bearer token @param headers further headers */
export const postJson = (
  url: string,
  body: unknown,
  token?: string,
  headers: Record<string, string> = {},
): Promise<Response> => request(url, "POST", { body, token, headers });
