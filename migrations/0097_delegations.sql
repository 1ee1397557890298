-- The code by which an account delegates to a contract (EIP-7702) has a row of its own account, which goes when the
-- delegation does. Accounts shared these rows, and nothing deleted them: a chain that has any makes its results again at the
-- next start.
do $$
begin
  if exists (
    select from embedded_chain_nodes
    where key >= '\x63' and key < '\x64' and length(key) = 33 and substring(value from 1 for 3) = '\xef0100'
  ) then
    delete from embedded_chain_results;
    delete from embedded_chain_transactions;
    delete from embedded_chain_nodes;
    delete from embedded_chain_replaced;
  end if;
end
$$;
