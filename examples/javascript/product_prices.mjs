// Prints the name and the price of product pages, as the pages themselves state them. No language model is needed.
// usage: node product_prices.mjs URL...
import Firecrawl from '@mendable/firecrawl-js';

const urls = process.argv.slice(2);
if (urls.length === 0) {
  console.error('usage: node product_prices.mjs URL...');
  process.exit(2);
}
const client = new Firecrawl({
  apiKey: process.env.FIRECRAWL_API_KEY,
  apiUrl: process.env.FIRECRAWL_API_URL,
});

for (const url of urls) {
  try {
    const { product } = await client.scrape(url, { formats: ['product'] });
    const price = product?.variants?.[0]?.price;
    console.log(url, product ? `${product.title}: ${price?.amount ?? '?'} ${price?.currency ?? ''}` : 'not a product page');
  } catch (error) {
    console.error(url, error.message);
    process.exitCode = 1;
  }
}
