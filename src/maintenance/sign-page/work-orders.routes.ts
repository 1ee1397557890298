/** POST …/work-order/ makes the printed work order of an entry, with new links to sign. */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import type { Api } from '../../http/api/api.ts';
import { attachment, attachmentPolicy } from '../../http/bodies/attachment.ts';
import { address } from '../../runtime/schemas.ts';
import { signoffsUrl } from '../entries/entry-signoffs.routes.ts';
import { entryPath, requested } from '../signoffs/signoffs.routes.ts';
import type { WorkOrders } from './work-orders.ts';

const closed = { additionalProperties: false };
/** Each takes a third of a page. */
const mostRequests = 20;

export function workOrderRoutes(app: Api, { workOrders }: { workOrders: WorkOrders }): void {
  app.post(
    signoffsUrl.replace(/signoffs\/$/, 'work-order/'),
    {
      config: { scope: 'assets:write', secretAnswer: true, freshSession: true },
      schema: {
        operationId: 'createWorkOrder',
        summary: 'Make a work order to print',
        description:
          'A PDF: what the work is, who has signed it, and for each of `requests` a new link to sign, as a QR code and as text. The links are those of `signoffs/requests/`: each replaces an earlier one for the same worker and role. They may be made before their turn, as for the inspection of work that is not signed as performed yet. All of them are made, or none.',
        tags: ['maintenances'],
        params: entryPath,
        querystring: Type.Object({ viewerAddress: address }, closed),
        body: Type.Object(
          {
            requests: Type.Array(Type.Object(requested, closed), { minItems: 1, maxItems: mostRequests }),
          },
          closed,
        ),
        response: {
          201: {
            description: 'The work order',
            content: { 'application/pdf': { schema: Type.String({ format: 'binary' }) } },
          },
        },
      },
    },
    async (request, reply) => {
      const { params, query, body } = request;
      const pdf = await workOrders.make(callerOf(request), { ...params, ...query, ...body });
      return reply
        .code(201)
        .headers({
          'content-disposition': attachment(`work-order-${params.maintenanceId}.pdf`),
          'content-security-policy': attachmentPolicy,
        })
        .type('application/pdf')
        .send(pdf as never);
    },
  );
}
