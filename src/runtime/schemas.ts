/** Schema pieces that several routes use. */
import { type Static, type TSchema, type TStringOptions, Type } from 'typebox';
import { visible } from './visible-text.ts';

/** A schema that the OpenAPI document lists among its components, under this title. */
export function named<T extends TSchema>(words: { title: string; description: string }, schema: T): T {
  return { ...schema, ...words };
}

export const dateTime = Type.String({ format: 'date-time' });

/** What somebody writes for others to read: no sign in it turns the direction of what stands beside it. */
export function plainText(options: TStringOptions & { maxLength: number }) {
  return Type.String({ ...options, format: 'plain-text' });
}

/** What people call a thing. */
export const name = plainText({ minLength: 1, maxLength: 200, pattern: visible });

export const address = Type.String({
  format: 'address',
  description: '0x followed by 40 hexadecimal digits; mixed case must have a correct EIP-55 checksum',
});

/** Of a file, as a caller gives it. */
export const contentHash = Type.String({
  format: 'hash',
  description: '0x followed by 64 hexadecimal digits: the SHA-256 of the bytes, or an HMAC of them',
});

/** The schema or null, written so that OpenAPI 3.1 and the serializer both take the short way. */
export function orNull<T extends TSchema>(schema: T) {
  const { type, title: _, enum: values, ...rest } = schema as unknown as Choice;
  return Type.Unsafe<Static<T> | null>({
    type: [type, 'null'],
    ...(values && { enum: [...values, null] }),
    ...rest,
  });
}

interface Choice {
  type: string;
  title?: string;
  enum?: unknown[];
}
