/** Reads a multipart form: one file, streamed to the caller, with fields before or after it. */
import type { MultipartFile, MultipartValue } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../runtime/errors.ts';

export interface FormFile {
  /** The last path segment of the file name in the form; empty if it has none. */
  name: string;
  /** As sent in the form, unchecked. */
  mediaType: string;
  /** Throws AppError when the form ends too early or the connection is lost. */
  bytes: AsyncIterable<Uint8Array>;
}

export interface Form<Taken> {
  fields: Record<string, string>;
  /** Null when the form has no file. */
  file: Taken | null;
}

/** The name of the file's field. */
export const fileField = 'file';

export const formLimits = {
  // Left to the consumer of the bytes, which counts them anyway.
  fileSize: Number.POSITIVE_INFINITY,
  // One more than allowed, to detect the excess.
  files: 2,
  fields: 20,
  parts: 22,
  fieldSize: 64 * 1024,
  headerPairs: 50,
  headerSize: 16 * 1024,
};

/** Throws AppError when it is not a form with at most one file, even if a file was already taken. */
export async function readForm<Taken>(
  request: FastifyRequest,
  take: (file: FormFile) => Promise<Taken>,
): Promise<Form<Taken>> {
  const form: Form<Taken> = { fields: {}, file: null };
  try {
    for await (const part of partsOf(request)) {
      if (part.type === 'field') {
        addField(form.fields, part);
      } else {
        if (part.fieldname !== fileField) throw unknownFile(part.fieldname);
        if (form.file !== null) throw new AppError('invalid_request', 'Send one file, not several.');
        form.file = await take({
          name: part.filename ?? '',
          mediaType: part.mimetype,
          bytes: bytesOf(part),
        });
      }
    }
  } catch (error) {
    // Discards the rest, so that it blocks neither the answer nor the connection.
    request.raw.unpipe();
    request.raw.resume();
    throw error;
  }
  return form;
}

async function* partsOf(request: FastifyRequest): AsyncGenerator<MultipartFile | MultipartValue> {
  const parts = request.parts({ limits: formLimits });
  for (;;) {
    const { value, done } = await parts.next().catch((error) => {
      throw unreadable(error);
    });
    if (done) return;
    yield value;
  }
}

async function* bytesOf({ file }: MultipartFile): AsyncGenerator<Uint8Array> {
  try {
    yield* file;
  } catch (error) {
    throw unreadable(error);
  }
}

function addField(fields: Record<string, string>, part: MultipartValue): void {
  const { fieldname: name, value, valueTruncated } = part;
  if (name === fileField) {
    throw new AppError('invalid_request', 'file must be a file with a filename, not a text field.');
  }
  if (Object.hasOwn(fields, name)) {
    throw new AppError('invalid_request', `${JSON.stringify(name)} is given more than once.`);
  }
  if (valueTruncated) {
    throw new AppError('invalid_request', `${JSON.stringify(name)} is too long for a form field.`);
  }
  if (typeof value !== 'string') {
    throw new AppError('invalid_request', `${JSON.stringify(name)} must be a plain text field.`);
  }
  fields[name] = value;
}

function unknownFile(name: string | undefined): AppError {
  return new AppError(
    'invalid_request',
    `Send the file as the field ${JSON.stringify(fileField)}, not as ${JSON.stringify(name ?? '')}.`,
  );
}

const limitCodes = new Set(['FST_PARTS_LIMIT', 'FST_FILES_LIMIT', 'FST_FIELDS_LIMIT']);

function unreadable(cause: unknown): AppError {
  const error = cause as Error & { code?: string };
  const told = limitCodes.has(error.code ?? '')
    ? `The form has too many parts: send one file and at most ${formLimits.fields} fields.`
    : error.code === 'FST_PROTO_VIOLATION'
      ? 'The form has a field with a name that is not allowed.'
      : `The multipart body cannot be read: ${error.message}.`;
  return new AppError('invalid_request', told, { cause: error });
}
