/** What a server may make the service compute while a connection begins. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { connect, createSecureContext, createServer, type SecureContext } from 'node:tls';
import {
  basicConstraints,
  makeCertificate,
  nameOf,
} from '../../test/support/timestamps/test-certificates.ts';
import { testKey } from '../../test/support/timestamps/test-keys.ts';
import { outgoingContext } from './guarded-connector.ts';

test('a server that insists on a Diffie-Hellman group of its own gets no connection', async () => {
  const key = testKey('rsa');
  const now = performance.timeOrigin + performance.now();
  const certificate = makeCertificate({
    ...{ subject: nameOf('server'), issuer: nameOf('server'), key, signedBy: key, serial: 3 },
    ...{ notBefore: now - 1e6, notAfter: now + 1e6, extensions: [basicConstraints(true)] },
  });
  const ca = new X509Certificate(certificate).toString();
  const server = createServer({
    ...{ cert: ca, key: key.privateKey.export({ type: 'pkcs8', format: 'pem' }) },
    ...{ ciphers: 'DHE-RSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2', dhparam: 'auto' },
  });
  server.on('tlsClientError', () => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const reach = async (secureContext: SecureContext) => {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', secureContext, checkServerIdentity: () => undefined });
    try {
      await once(socket, 'secureConnect');
    } finally {
      socket.destroy();
    }
  };
  try {
    await reach(createSecureContext({ ca }));
    await assert.rejects(reach(outgoingContext({ ca })), /handshake failure/);
  } finally {
    server.close();
  }
});
