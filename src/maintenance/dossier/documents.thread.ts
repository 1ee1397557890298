/** The thread that makes all documents; see document-thread.ts. */

import { drawCertificate } from '../../holdings/certificates/certificate.ts';
import { serveDrawings } from '../../pdf/serve-drawings.ts';
import { drawWorkOrder } from '../sign-page/work-order-sheet.ts';
import { drawLogbook } from './logbook.ts';
import { drawReleaseCertificate, drawReleaseVolume } from './release-certificate.ts';

serveDrawings({
  certificate: drawCertificate,
  logbook: drawLogbook,
  releaseCertificate: drawReleaseCertificate,
  releaseVolume: drawReleaseVolume,
  workOrder: drawWorkOrder,
});
