/** The bare Fastify itself; see bare-peer.ts. One statement a route, answers serialised by schema, nothing else. */
import { randomBytes, randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';
import { answerQuestions } from './child.ts';

answerQuestions<pg.ClientConfig, string>(async (connection) => {
  const pool = new pg.Pool({ ...connection, max: 10 });
  const app = Fastify({ logger: false });

  const text = { type: 'string' };
  const time = { type: 'string', format: 'date-time' };
  const made = { id: text, name: text, address: text, created_at: time };
  const thing = { ...made, description: text, status: text, updated_at: time };

  app.get<{ Params: { address: string } }>(
    '/things/:address',
    { schema: { response: { 200: { type: 'object', properties: thing } } } },
    async (request, reply) => {
      const { rows } = await pool.query({
        name: 'get-thing',
        text: `select id, name, description, address, status, created_at, updated_at
               from things where address = $1`,
        values: [request.params.address],
      });
      return rows[0] ?? reply.code(404).send();
    },
  );

  app.post<{ Body: { name: string } }>(
    '/things',
    { schema: { response: { 201: { type: 'object', properties: made } } } },
    async (request, reply) => {
      const id = randomUUID();
      const { name } = request.body;
      const address = `0x${randomBytes(20).toString('hex')}`;
      const created_at = new Date();
      await pool.query({
        name: 'add-thing',
        text: 'insert into things (id, name, address, created_at) values ($1, $2, $3, $4)',
        values: [id, name, address, created_at],
      });
      return reply.code(201).send({ id, name, address, created_at });
    },
  );

  return app.listen({ host: '127.0.0.1', port: 0 });
});
