/** The name of an event type, which breaks before its dots if necessary. */
import { Fragment } from 'react';

export function EventType({ type }: { type: string }) {
  return type.split('.').map((part, place) => (
    <Fragment key={part}>
      {place > 0 && (
        <>
          <wbr />.
        </>
      )}
      {part}
    </Fragment>
  ));
}
