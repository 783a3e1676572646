/* A server sends the items of a large run as JSON. */
window.sqlgaugeRequest = async (address) => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`The server does not send ${address}: reload the page.`);
  return answer.json();
};
