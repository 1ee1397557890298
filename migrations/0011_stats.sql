-- What the overview asks: batches by the time of their confirmation.
create index anchor_batches_by_confirmation on anchor_batches (confirmed_at) where confirmed_at is not null;
