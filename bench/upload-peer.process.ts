/**
 * The peer of uploads: a bare Fastify that takes the same form, hashes the file, and writes it with the same durability
 * (temporary file, fsync, rename, fsync of the directory). No encryption, no database, no check of anything.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import multipart from '@fastify/multipart';
import Fastify from 'fastify';
import { answerQuestions } from './child.ts';

answerQuestions<{ dir: string }, string>(async ({ dir }) => {
  await mkdir(dir, { recursive: true });
  const app = Fastify({ logger: false });
  await app.register(multipart, { limits: { fileSize: Number.MAX_SAFE_INTEGER } });

  app.post('/files', async (request, reply) => {
    const part = await request.file();
    if (!part) return reply.code(400).send();
    const hash = createHash('sha256');
    const id = randomUUID();
    const temporary = join(dir, `${id}.part`);
    const file = await open(temporary, 'wx');
    for await (const piece of part.file) {
      hash.update(piece);
      await file.write(piece);
    }
    await file.datasync();
    await file.close();
    await rename(temporary, join(dir, id));
    const directory = await open(dir, 'r');
    await directory.sync();
    await directory.close();
    return reply.code(202).send({ id, hash: hash.digest('hex') });
  });

  return app.listen({ host: '127.0.0.1', port: 0 });
});
