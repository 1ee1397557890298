-- OpenTimestamps proofs that were completed without the header of their block: nobody has checked what calendars say.
create index timestamps_unchecked on timestamps (id)
  where kind = 'opentimestamps' and complete and cardinality(headers) = 0;
