/** /platform/audit-log/proof */

import { Type } from 'typebox';
import { ProofSchema } from '../../anchoring/anchor-state.ts';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Proof } from '../../proof/proof.ts';
import { named } from '../../runtime/schemas.ts';
import type { ProofRequest } from '../records/records.ts';
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
              sequence: Type.Integer({ description: 'Position of the entry in the hash chain' }),
              content: Type.String({ description: 'Base64' }),
              proof: ProofSchema,
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
