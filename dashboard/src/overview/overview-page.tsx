/** The first page: how things stand. */
import { PageHead } from '../frame/page-head.tsx';

export function OverviewPage() {
  return <PageHead title="Overview" />;
}
