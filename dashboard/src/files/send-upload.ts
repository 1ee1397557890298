/** Sends one file to be anchored: its bytes as a form, or only its hash. */
import { call } from '../api/call.ts';
import type { FileVersion } from './file.ts';
import { hashFile } from './file-hash.ts';
import { sendForm } from './send-form.ts';
import type { Upload, UploadStep } from './upload-queue.ts';

export async function sendUpload({ file, name }: Upload, step: UploadStep): Promise<FileVersion> {
  const { settings, idempotencyKey, signal, enter } = step;
  const { path, hashOnly, fields } = settings;
  const headers = { 'idempotency-key': idempotencyKey };
  if (hashOnly) {
    const contentHash = await hashFile(file, step);
    enter('sending');
    const mediaType = file.type === '' ? {} : { mediaType: file.type };
    const body = { ...fields, name, contentHash, ...mediaType };
    return call<FileVersion>('POST', path, { body, headers, signal });
  }
  const form = new FormData();
  for (const [field, value] of Object.entries({ ...fields, name })) form.append(field, value);
  form.append('file', file);
  return sendForm<FileVersion>({ path, form, headers }, step);
}
