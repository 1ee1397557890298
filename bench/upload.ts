/** Uploads from a process of its own: forms with a file each, whose bytes are made while they are sent. */
import { startChild } from './child.ts';

export interface UploadLoad {
  url: string;
  path: string;
  headers: Record<string, string>;
  fields: Record<string, string>;
  fileBytes: number;
  files: number;
  /** Uploads at once, on as many connections. */
  connections: number;
}

export interface UploadResult {
  /** From the first byte to the last answer. */
  seconds: number;
  mbPerSecond: number;
}

export interface Uploader {
  pid: number;
  /** Throws when an answer is anything but a success. */
  run(load: UploadLoad): Promise<UploadResult>;
  stop(): Promise<void>;
}

const longestRunMs = 600_000;

export async function startUploader(): Promise<Uploader> {
  const child = startChild<UploadLoad, UploadResult>(new URL('./upload.process.ts', import.meta.url));
  return { pid: child.pid, run: (load) => child.ask(load, longestRunMs), stop: child.stop };
}

export interface UploadPeer {
  pid: number;
  url: string;
  stop(): Promise<void>;
}

export async function startUploadPeer(dir: string): Promise<UploadPeer> {
  const child = startChild<object, string>(new URL('./upload-peer.process.ts', import.meta.url));
  try {
    return { pid: child.pid, url: await child.ask({ dir }, 20_000), stop: child.stop };
  } catch (error) {
    await child.stop();
    throw error;
  }
}
