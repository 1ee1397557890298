/** A service of another process as its users reach it: with keys over HTTP, with forms, and signed in. */
import assert from 'node:assert/strict';
import { callerAt, type Service } from '../support/service/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are read
export type Json = any;

export interface Client {
  url: string;
  /** The first key, which may do everything in the default workspace. */
  key: string;
  call: Service['call'];
  /** Expects a success. */
  get(path: string, key?: string): Promise<Json>;
  send(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Json>;
  post(path: string, body?: object, headers?: Record<string, string>): Promise<Json>;
  upload(path: string, fields: Record<string, string>, file: { name: string; text: string }): Promise<Json>;
}

/** Paths are those below /api-v1. */
export function connect(url: string, key: string): Client {
  const call = callerAt(url, key);

  async function send(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const answer = await call(method, `/api-v1${path}`, { ...(body && { body }), headers });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  }

  return {
    url,
    key,
    call,
    async get(path, withKey = key) {
      const answer = await call('GET', `/api-v1${path}`, { key: withKey });
      assert.equal(answer.status, 200, `GET ${path}: ${answer.text}`);
      return answer.json;
    },
    send,
    post: (path, body = {}, headers = {}) => send('POST', path, body, headers),
    async upload(path, fields, { name, text }) {
      const form = new FormData();
      for (const [field, value] of Object.entries(fields)) form.set(field, value);
      form.set('file', new Blob([text], { type: 'text/plain' }), name);
      const response = await fetch(`${url}/api-v1${path}`, {
        method: 'POST',
        headers: { 'x-api-key': key },
        body: form,
      });
      const answer = await response.text();
      assert.ok(response.ok, `POST ${path}: ${answer}`);
      return JSON.parse(answer);
    },
  };
}
