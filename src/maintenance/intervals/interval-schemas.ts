/** What requests and answers about intervals look like. */
import { Type } from 'typebox';
import {
  dateTime,
  like,
  named,
  orNull,
  name as plainName,
  plainText,
  sample,
  text,
} from '../../runtime/schemas.ts';
import { usageFromParents } from '../assets/assets.routes.ts';
import { sampleAsset, sampleWork } from '../signing/sample-work.ts';
import { type IntervalKind, intervalKinds } from './interval.ts';

export const intervalPath = Type.Object({
  assetId: text(sample.assetId),
  intervalId: text(sample.intervalId),
});

const sampleName = 'Rope and brake';
const sampleTolerance = { days: 14, hours: 25, cycles: null };
const sampleEvery = { days: null, months: 6, hours: 500, cycles: null };
/** `lastDone` before the interval was created, and after the work in the examples. */
export const firstDone = { at: '2025-09-01T08:00:00.000Z', hours: 12_010, cycles: null };
const sampleDone = { at: sample.performedAt, hours: 12_480.5, cycles: null };

export const name = plainText({ maxLength: 200, examples: [sampleName] });
const counter = { minimum: 0, maximum: 1e12 };
export const every = Type.Object(
  {
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    months: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 12_000,
        description:
          'Calendar months: due at the end of that day in UTC, or of the last day of a shorter month',
      }),
    ),
    hours: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1e12 })),
    cycles: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e12 })),
  },
  {
    additionalProperties: false,
    description: 'Set at least one; the one that is reached first counts',
    examples: [{ months: sampleEvery.months, hours: sampleEvery.hours }],
  },
);
export const kind = like(
  Type.Unsafe<IntervalKind>(
    Type.String({
      enum: [...intervalKinds],
      description:
        '`life-limit`: when it is reached the asset is retired. No work completes it, and `lastDone` is when its life began',
    }),
  ),
  'recurring',
);
export const tolerance = Type.Object(
  {
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Also for months' })),
    hours: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1e12 })),
    cycles: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e12 })),
  },
  {
    additionalProperties: false,
    description:
      'By how much the interval may be exceeded. Work that is done within it does not move what is due next, which counts from when this work was due. Smaller than the interval, only for its units, and never for a life limit',
    examples: [{ days: sampleTolerance.days, hours: sampleTolerance.hours }],
  },
);
export const limitCorrection = Type.String({
  ...plainName,
  maxLength: 500,
  description: 'Why a life limit changes; kept in the audit log',
});
export const lastDone = Type.Object(
  {
    at: dateTime,
    hours: Type.Optional(Type.Number(counter)),
    cycles: Type.Optional(Type.Integer(counter)),
  },
  {
    additionalProperties: false,
    examples: [{ at: firstDone.at, hours: firstDone.hours }],
    description:
      'When the work was last done before the interval was created, and the usage at that time. Required for each counter in `every`, and not above the usage of the asset',
  },
);

const numberOrNull = orNull(Type.Number());
const intervalFields = {
  id: text(sample.intervalId),
  name: text(sampleName, { description: 'Empty if not set' }),
  kind,
  every: Type.Object(
    {
      days: orNull(Type.Integer()),
      months: orNull(Type.Integer()),
      hours: numberOrNull,
      cycles: orNull(Type.Integer()),
    },
    { examples: [sampleEvery] },
  ),
  tolerance: Type.Object(
    { days: orNull(Type.Integer()), hours: numberOrNull, cycles: orNull(Type.Integer()) },
    { examples: [sampleTolerance] },
  ),
  lastDone: Type.Object(
    { at: dateTime, hours: numberOrNull, cycles: orNull(Type.Integer()) },
    { examples: [sampleDone] },
  ),
  completedBy: orNull(
    text(sample.maintenanceId, {
      description: 'The entry that last completed it; null before the first',
    }),
  ),
  version: Type.Integer({
    description: 'Number of the current version; in quotes it is the ETag for If-Match',
    examples: [2],
  }),
  createdAt: dateTime,
  updatedAt: dateTime,
};
export const IntervalSchema = named(
  { title: 'Interval', description: 'Maintenance work that recurs' },
  Type.Object(intervalFields),
);
export const DueSchema = named(
  { title: 'AssetDue', description: 'What is due on an asset: intervals and open defects' },
  Type.Object({
    assetId: text(sample.assetId),
    at: text('2026-03-02T12:00:00.000Z', { ...dateTime, description: 'The time that this was computed for' }),
    usage: Type.Object({ hours: Type.Number(), cycles: Type.Integer() }, { examples: [sampleAsset.usage] }),
    usageFromParents,
    overdue: Type.Boolean({ description: 'Whether anything is overdue' }),
    retired: Type.Boolean({ description: 'Whether the asset has reached a life limit' }),
    intervals: Type.Array(
      Type.Object({
        ...intervalFields,
        countsFrom: Type.Object(
          { at: dateTime, hours: numberOrNull, cycles: orNull(Type.Integer()) },
          {
            description: '`lastDone`, or what was due then if the work was done later within the tolerance',
            examples: [sampleDone],
          },
        ),
        nextDue: Type.Object(
          { at: orNull(dateTime), hours: numberOrNull, cycles: orNull(Type.Integer()) },
          { examples: [{ at: '2026-09-02T23:59:59.999Z', hours: 12_980.5 }] },
        ),
        latest: Type.Object(
          { at: orNull(dateTime), hours: numberOrNull, cycles: orNull(Type.Integer()) },
          {
            description: '`nextDue` with the tolerance',
            examples: [{ at: '2026-09-16T23:59:59.999Z', hours: 13_005.5 }],
          },
        ),
        remaining: Type.Object(
          { days: numberOrNull, hours: numberOrNull, cycles: orNull(Type.Integer()) },
          { description: 'Until `nextDue`; negative after it', examples: [{ days: 184.5, hours: 500 }] },
        ),
        inTolerance: Type.Boolean({ description: 'Past `nextDue`, but not past `latest`' }),
        overdue: Type.Boolean({ description: 'Past `latest`; a life limit: reached' }),
      }),
    ),
    retiredParts: Type.Array(
      Type.Object({
        assetId: text('seal-2291'),
        name: text('Shaft seal'),
        intervalId: text('itv_01KJPW41N09B0V2MXH7PYGCMZ1', { description: 'Its life limit' }),
        limit: text('Service life', { description: 'The name of the life limit' }),
      }),
      {
        description:
          'Parts that have reached a life limit and are still installed in the asset, directly or in other parts. Only their removal clears them. Among the first thousand parts, ten levels deep',
      },
    ),
    withdrawnReleases: Type.Array(
      Type.Object({
        maintenanceId: text(sample.maintenanceId),
        summary: text(sampleWork.summary, { description: 'Its first thousand characters' }),
        correctedBy: text('mnt_01KJPW41N0DX0B2JGPMPA4ZXJ2', {
          description: 'The newest correction, which is to be certified',
        }),
      }),
      {
        description:
          'Certified entries that were corrected, until the correction is certified; the latest hundred',
        examples: [[]],
      },
    ),
    openDefects: Type.Array(
      Type.Object({
        maintenanceId: text('mnt_01KJPW41N0DX0B2JGPMPA4ZXJ1'),
        summary: text('Gearbox seal is seeping oil'),
        performedAt: like(dateTime, sample.performedAt),
        recordedAt: like(dateTime, '2026-03-02T08:55:00.000Z'),
        deferred: Type.Boolean({ description: 'Whether the repair was deferred', examples: [true] }),
        deferredUntil: orNull(like(dateTime, '2026-04-30T23:59:59.999Z')),
        overdue: Type.Boolean(),
        repairedBy: orNull(
          Type.String({ description: 'The newest entry that will close it once certified' }),
        ),
      }),
      {
        description:
          'Entries of type `defect` that no certified entry lists in `data.closes`; the oldest thousand',
      },
    ),
  }),
);
