/** Answers with JSON that is stored as text: it goes out as it lies, for to read and to write it anew holds up the others. */
import type { FastifyReply } from 'fastify';

/** The object as JSON, with one more member. */
export function withStored(object: object, member: { name: string; text: string }): string {
  return `${JSON.stringify(object).slice(0, -1)},${JSON.stringify(member.name)}:${member.text}}`;
}

/** Past the schema of the answer, which is that of what the text says. */
export function sendJson(reply: FastifyReply, text: string): never {
  return reply.type('application/json; charset=utf-8').send(text) as never;
}
