/** /platform/audit-log/proof */

import { Type } from 'typebox';
import { proofOf } from '../../anchoring/proof-schema.ts';
import type { ProofRequest } from '../../anchoring/proofs.ts';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import { named, sample, text } from '../../runtime/schemas.ts';
import { proveAuditLog } from './audit-anchors.ts';

export interface AuditProofRoutesDeps {
  db: Db;
  makeProof(request: ProofRequest): Promise<Proof>;
}

export function auditProofRoutes(app: Api, { db, makeProof }: AuditProofRoutesDeps): void {
  app.get(
    `${apiBase}/platform/audit-log/proof`,
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'getAuditLogProof',
        summary: 'Get the proof of the audit log',
        description:
          'Proves the hash of the last anchored entry, and so all entries before it. The log is anchored once a day. `content` is the 64 bytes whose SHA-256 is that hash. 409 before the first anchor.',
        tags: ['audit'],
        response: {
          200: named(
            {
              title: 'AuditLogProof',
              description: 'The proof of an audit entry, which also covers all entries before it',
            },
            Type.Object({
              sequence: Type.Integer({
                description: 'Position of the entry in the hash chain',
                examples: [41],
              }),
              content: text(
                'Al6xE57SlyXH1CCB3sGTA9GT01rLNiuNokmbJaO32hiengB1pvV3CZEERiRE18nE4ckHZdJJ0u4Xe3DDsr3Pqw==',
                { description: 'Base64' },
              ),
              proof: proofOf({
                kind: 'audit-log',
                id: sample.workspaceId,
                digest: '0xdc560baef5cf167596a25d2c980f7634c9b5f421f3f7aec459c3752b59dda04b',
                raw: true,
                claims: { sequence: 41 },
              }),
            }),
          ),
        },
      },
    },
    async (request) => {
      const { sequence, content, proof } = await proveAuditLog(db, makeProof, callerOf(request).workspaceId);
      return { sequence, content: content.toString('base64'), proof: { ...proof } };
    },
  );
}
