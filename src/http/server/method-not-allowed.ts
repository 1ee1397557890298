/** 405 with Allow for a known path with an unsupported method, 404 for an unknown path. */
import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../runtime/errors.ts';
import { noRoute, pathOf } from '../api/error-reply.ts';

/** A path as in its routes, with `:name` for parameters. */
interface KnownPath {
  url: string;
  /** Matches the actual paths. */
  shape: RegExp;
  parameters: number;
  methods: Set<string>;
}

/**
 * Call before the routes are added, and `close()` after them. A route for each unsupported method would add thirty routes
 * per supported one, and half of the start-up time: instead the path is looked up when no route was found.
 */
export function watchMethods(app: FastifyInstance): { close(): void } {
  // CONNECT asks a proxy for a tunnel and never reaches a route.
  for (const method of METHODS.filter((method) => method !== 'CONNECT')) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: false });
  }
  const known = new Map<string, KnownPath>();
  let watching = true;
  app.addHook('onRoute', ({ url, method }) => {
    // A wildcard matches paths that need not exist.
    if (!watching || url.includes('*')) return;
    const path = url === '/' ? url : url.replace(/\/$/, '');
    const present = known.get(path) ?? toKnownPath(path);
    for (const one of [method].flat()) present.methods.add(one);
    known.set(path, present);
  });
  // Before the body is read, as it does not matter.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const path = find(pathOf(request));
    done(path ? refuse(path, request, reply) : noRoute(request));
  });

  /** Like the router: literal segments take precedence over parameters. */
  function find(encoded: string): KnownPath | undefined {
    const path = decode(encoded);
    return [...known.values()]
      .filter(({ shape }) => shape.test(path))
      .sort((one, other) => one.parameters - other.parameters)[0];
  }

  return {
    close() {
      watching = false;
      for (const path of known.values()) {
        // `/records/batch` also matches `/records/:id`, whose methods would apply to it.
        const others = [...known.values()].filter((other) => other !== path && other.shape.test(path.url));
        const method = [...new Set(others.flatMap(({ methods }) => [...methods]))].filter(
          (one) => !path.methods.has(one),
        );
        if (method.length === 0) continue;
        app.route({
          method,
          url: path.url,
          schema: { hide: true },
          onRequest: (request, reply, done) => done(refuse(path, request, reply)),
          handler() {},
        });
      }
    },
  };
}

/** A path that cannot be decoded matches nothing. */
function decode(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return '';
  }
}

function toKnownPath(url: string): KnownPath {
  const shape = url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+');
  return {
    url,
    shape: new RegExp(`^${shape}/?$`),
    parameters: url.split(':').length - 1,
    methods: new Set(),
  };
}

function refuse({ methods }: KnownPath, { method }: FastifyRequest, reply: FastifyReply): AppError {
  const allowed = [...methods].sort().join(', ');
  reply.header('allow', allowed);
  return new AppError('method_not_allowed', `${method} is not supported here; use ${allowed}.`);
}
