/** /damc/signoffs/organisation/: in whose name work is released, for release certificates. */
import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { named, plainText } from '../../runtime/schemas.ts';
import { changeOrganisation, readOrganisation } from './organisation.store.ts';

const stated = (maxLength: number, example: string, description: string) =>
  plainText({ maxLength, examples: [example], description });
const fields = {
  name: stated(200, 'Northport Crane Services', 'Of the organisation'),
  address: stated(500, 'Quay 12, 2150 Northport', 'Of the organisation'),
  authority: stated(
    200,
    'Port Safety Authority, Northport',
    'The authority that approved it, and its country',
  ),
  approvalNumber: stated(100, 'PSA.145.0042', 'Empty: it has no approval'),
  regulation: stated(100, 'Part-145', 'What the approval is under'),
};
const OrganisationSchema = named(
  {
    title: 'Organisation',
    description: 'In whose name work is released. The service shows it as stated, and does not check it',
  },
  Type.Object(fields),
);

const url = `${apiBase}/damc/signoffs/organisation/`;
const tags = ['maintenances'];

export function organisationRoutes(app: Api, { db }: { db: Db }): void {
  app.get(
    url,
    {
      config: { scope: 'assets:read' },
      schema: {
        operationId: 'getOrganisation',
        summary: 'Get the organisation that releases work',
        description: 'A field is empty if nothing was stated.',
        tags,
        response: { 200: OrganisationSchema },
      },
    },
    (request) => readOrganisation(db, callerOf(request).workspaceId),
  );

  app.put(
    url,
    {
      config: { role: 'owner', freshSession: true },
      schema: {
        operationId: 'changeOrganisation',
        summary: 'Change the organisation that releases work',
        description:
          'For sign-offs as certified that are made from now on: each keeps the organisation as it was stated then, and so does its release certificate.',
        tags,
        body: Type.Object(fields, { additionalProperties: false }),
        response: { 200: OrganisationSchema },
      },
    },
    (request) => {
      const { name, address, authority, approvalNumber, regulation } = request.body;
      return changeOrganisation(db, callerOf(request), {
        name: name.trim(),
        address: address.trim(),
        authority: authority.trim(),
        approvalNumber: approvalNumber.trim(),
        regulation: regulation.trim(),
      });
    },
  );
}
