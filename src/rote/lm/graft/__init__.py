"""Facts grafted into a pretrained language model: layers appended in closed form, a certificate, and their removal."""
