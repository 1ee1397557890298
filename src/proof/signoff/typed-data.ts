/**
 * EIP-712: the 32 bytes that stand for typed data, in the domain of Holdfast, without chain and contract. A file of our own,
 * because a web page carries it; a test compares it with another implementation.
 */
import { fromHex, writeHex } from '../hex.ts';
import { plainKeccak } from '../keccak.ts';
import { sealDomain } from '../seal.ts';

/** Members in the order in which they are hashed. */
export type TypedDataTypes = Readonly<Record<string, readonly { name: string; type: string }[]>>;

export interface TypedData {
  types: TypedDataTypes;
  primaryType: string;
  message: object;
}

export function typedDataDigest({ types, primaryType, message }: TypedData): Uint8Array {
  const domain = [hashOf('EIP712Domain(string name,string version)')];
  domain.push(hashOf(sealDomain.name), hashOf(sealDomain.version));
  const signed = [Uint8Array.of(0x19, 0x01), plainKeccak(joined(domain))];
  return plainKeccak(joined([...signed, hashOfStruct(types, primaryType, message)]));
}

function hashOfStruct(types: TypedDataTypes, name: string, value: object): Uint8Array {
  const words = [hashOf(textOfType(types, name))];
  for (const member of membersOf(types, name)) {
    words.push(wordOf(types, member.type, (value as Record<string, unknown>)[member.name]));
  }
  return plainKeccak(joined(words));
}

function wordOf(types: TypedDataTypes, type: string, value: unknown): Uint8Array {
  if (type.endsWith('[]')) {
    const items = value as object[];
    return plainKeccak(joined(items.map((item) => wordOf(types, type.slice(0, -2), item))));
  }
  if (Object.hasOwn(types, type)) return hashOfStruct(types, type, value as object);
  const word = new Uint8Array(32);
  switch (type) {
    case 'string':
      return hashOf(value as string);
    case 'bytes':
      return plainKeccak(fromHex(value as string));
    case 'bytes32':
      writeHex(value as string, word, 0);
      return word;
    case 'address':
      writeHex(value as string, word, 12);
      return word;
    case 'uint32':
      new DataView(word.buffer).setUint32(28, value as number);
      return word;
    default:
      throw new Error(`the type ${type} is not known`);
  }
}

/** With the types that it uses, in the order of their names. */
function textOfType(types: TypedDataTypes, name: string): string {
  const used = new Set<string>();
  const add = (type: string) => {
    const inner = type.replace('[]', '');
    if (!Object.hasOwn(types, inner) || used.has(inner)) return;
    used.add(inner);
    for (const member of membersOf(types, inner)) add(member.type);
  };
  add(name);
  used.delete(name);
  return [name, ...[...used].sort()]
    .map((one) => `${one}(${membersOf(types, one).map((member) => `${member.type} ${member.name}`)})`)
    .join('');
}

function membersOf(types: TypedDataTypes, name: string): TypedDataTypes[string] {
  const members = types[name];
  if (members === undefined) throw new Error(`there is no type ${name}`);
  return members;
}

function hashOf(text: string): Uint8Array {
  return plainKeccak(new TextEncoder().encode(text));
}

function joined(parts: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
