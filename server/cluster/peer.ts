/** Sends requests to another process, over HTTP or TLS. The cluster may have a certificate authority of its own. */
import { type ClientRequest, type RequestOptions, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

export interface PeerTls {
  /** Authorities (PEM) that sign the other processes' certificates; undefined: the system's authorities. */
  ca: string | undefined;
}

/** @param url http:// or https://, with the path */
export function requestPeer(url: URL, { ca }: PeerTls, options: RequestOptions): ClientRequest {
  return url.protocol === "https:" ? httpsRequest(url, { ...options, ca }) : httpRequest(url, options);
}
